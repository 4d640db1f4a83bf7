"""CarRacing for one's own training code: steps a second of our cars, gymnasium's and envpool's.

python benchmarks/vector.py [--steps 640] [--repeats 7] [--cars 1 8 64]

Prints a table with the medians over repeats, in each of which all take a turn: environment steps a second by
the clock, and microseconds of CPU time a step, of all threads and processes. Everything drives the same
recorded actions. A turn begins with a reset and sixty steps that are not timed, and is shorter than an
episode, so no reset is timed. gymnasium's environment has the wrappers of gymnasium.make; AsyncVectorEnv has
a process for each car.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import car_racing
import envpool
import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from mpi_es.evaluation import build

OURS, THEIRS = "mpi_es/CarRacing-v3", "CarRacing-v3"
WARM_UP = 60  # steps: in the first second the camera zooms, and more is in view
TICKS = os.sysconf("SC_CLK_TCK")  # of /proc, in a second


@dataclass
class Contender:
    """A way to step cars, and what its turns took."""

    name: str
    cars: int
    threads: int
    env: Any
    precision: type = np.float32  # of its actions
    wall: list[float] = field(default_factory=list)  # seconds of a step of one car
    cpu: list[float] = field(default_factory=list)

    @property
    def alone(self) -> bool:
        """Whether it is one environment, without a first axis for the cars."""
        return not hasattr(self.env, "num_envs") and not hasattr(self.env, "config")

    def turn(self, actions: np.ndarray, steps: int) -> None:
        """Drive for so many steps of all cars together."""
        given: np.ndarray = actions.astype(self.precision)
        if not self.alone:
            given = np.repeat(given[:, None], self.cars, axis=1)
        self.env.reset()
        for action in given[:WARM_UP]:
            self.env.step(action)
        calls = steps // self.cars
        wall, cpu = time.perf_counter(), self.cpu_seconds()
        for action in given[WARM_UP : WARM_UP + calls]:
            self.env.step(action)
        self.wall.append((time.perf_counter() - wall) / (calls * self.cars))
        self.cpu.append((self.cpu_seconds() - cpu) / (calls * self.cars))

    def cpu_seconds(self) -> float:
        """Return the CPU time of this process and of those of the environment."""
        children = [process.pid for process in getattr(self.env, "processes", [])]
        return time.process_time() + sum(map(seconds_of, children))


def seconds_of(process: int) -> float:
    """Return the CPU time of another process."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS


def contenders(sizes: list[int]) -> list[Contender]:
    """Return all, with their environments."""
    make: Callable[[], Any] = lambda: gym.make(THEIRS)  # noqa: E731
    found = [
        Contender("gymnasium", 1, 1, make()),
        Contender("ours, the environment alone", 1, 1, gym.make(OURS)),
    ]
    largest = min(8, max(sizes))
    found += [
        Contender(f"gymnasium, {kind.__name__}", largest, 1, kind([make] * largest))
        for kind in (SyncVectorEnv, AsyncVectorEnv)
    ]
    for cars in sizes:
        for threads in (1, 2):
            if threads <= cars:
                pool = envpool.make(
                    "CarRacing-v2", env_type="gymnasium", num_envs=cars, num_threads=threads, seed=1
                )
                found.append(Contender("envpool", cars, threads, pool, np.float64))
                ours = gym.make_vec(OURS, num_envs=cars, threads=threads)
                found.append(Contender("ours, make_vec", cars, threads, ours))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=640)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--cars", type=int, nargs="+", default=[1, 8, 64])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    weights = build.make_policy(car_racing.config("close")).initial(1)
    actions = car_racing.record(weights, WARM_UP + options.steps, seed=1)
    actions = np.resize(actions, (WARM_UP + options.steps, 3))  # an episode that ends early is driven again
    drivers = contenders(options.cars)
    for driver in drivers:
        driver.turn(actions, WARM_UP * driver.cars)
        driver.wall.clear()
        driver.cpu.clear()
    for _ in range(options.repeats):
        for driver in drivers:
            driver.turn(actions, options.steps)
    print("| Environment | Cars | Threads | Steps a second | CPU time of a step |")
    print("| --- | --- | --- | --- | --- |")
    for driver in drivers:
        speed, cpu = 1 / np.median(driver.wall), 1e6 * np.median(driver.cpu)
        print(f"| {driver.name} | {driver.cars} | {driver.threads} | {speed:,.0f} | {cpu:,.0f} µs |")
        driver.env.close()
    print(f"\nload of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
