"""Our environments for one's own training code: steps a second of ours, gymnasium's and envpool's.

python benchmarks/vector.py [ENVIRONMENT …] [--repeats 7] [--copies 1 8 64]

Prints tables with the medians over repeats, in each of which all take a turn: environment steps a second by
the clock, and microseconds of CPU time a step, of all threads and processes. All copies get the same
actions: CarRacing's are recorded, the others' random. A turn begins with a reset and sixty steps that are
not timed; CarRacing's is shorter than an episode, so no reset is timed, the others' have many. gymnasium's
environment has the wrappers of gymnasium.make; AsyncVectorEnv has a process for each copy.
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

WARM_UP = 60  # steps: in CarRacing's first second the camera zooms, and more is in view
TICKS = os.sysconf("SC_CLK_TCK")  # of /proc, in a second


@dataclass(frozen=True)
class Task:
    """An environment by gymnasium's name and envpool's, and the steps of a turn."""

    env: str
    pool: str
    steps: int
    precision: type = np.float32  # of envpool's actions


TASKS = {
    "CartPole": Task("CartPole-v1", "CartPole-v1", 64_000, np.int32),
    "LunarLander": Task("LunarLander-v3", "LunarLander-v3", 6400, np.int32),
    "BipedalWalker": Task("BipedalWalker-v3", "BipedalWalker-v3", 3200),
    "CarRacing": Task("CarRacing-v3", "CarRacing-v2", 640, np.float64),
}


@dataclass
class Contender:
    """A way to step copies of an environment, and what its turns took."""

    name: str
    copies: int
    threads: int
    env: Any
    precision: type | None = None  # of its actions, if not that of gymnasium's
    wall: list[float] = field(default_factory=list)  # seconds of a step of one copy
    cpu: list[float] = field(default_factory=list)

    @property
    def alone(self) -> bool:
        """Whether it is one environment, without a first axis for the copies."""
        return not hasattr(self.env, "num_envs") and not hasattr(self.env, "config")

    def turn(self, actions: np.ndarray, steps: int) -> None:
        """Take so many steps of all copies together."""
        given: np.ndarray = actions.astype(self.precision or actions.dtype)
        if not self.alone:
            given = np.repeat(given[:, None], self.copies, axis=1)
        self.env.reset()
        for action in given[:WARM_UP]:
            self.env.step(action)
        calls = steps // self.copies
        wall, cpu = time.perf_counter(), self.cpu_seconds()
        for action in given[WARM_UP : WARM_UP + calls]:
            _, _, terminated, truncated, _ = self.env.step(action)
            if self.alone and (terminated or truncated):  # vectors do it themselves
                self.env.reset()
        self.wall.append((time.perf_counter() - wall) / (calls * self.copies))
        self.cpu.append((self.cpu_seconds() - cpu) / (calls * self.copies))

    def cpu_seconds(self) -> float:
        """Return the CPU time of this process and of those of the environment."""
        children = [process.pid for process in getattr(self.env, "processes", [])]
        return time.process_time() + sum(map(seconds_of, children))


def seconds_of(process: int) -> float:
    """Return the CPU time of another process."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS


def contenders(task: Task, sizes: list[int]) -> list[Contender]:
    """Return all, with their environments."""
    make: Callable[[], Any] = lambda: gym.make(task.env)  # noqa: E731
    ours = f"mpi_es/{task.env}"
    found = [
        Contender("gymnasium", 1, 1, make()),
        Contender("ours, the environment alone", 1, 1, gym.make(ours)),
    ]
    largest = min(8, max(sizes))
    found += [
        Contender(f"gymnasium, {kind.__name__}", largest, 1, kind([make] * largest))
        for kind in (SyncVectorEnv, AsyncVectorEnv)
    ]
    for copies in sizes:
        for threads in (1, 2):
            if threads <= copies:
                pool = envpool.make(
                    task.pool, env_type="gymnasium", num_envs=copies, num_threads=threads, seed=1
                )
                found.append(Contender("envpool", copies, threads, pool, task.precision))
                vector = gym.make_vec(ours, num_envs=copies, threads=threads)
                found.append(Contender("ours, make_vec", copies, threads, vector))
    return found


def make_actions(task: Task) -> np.ndarray:
    """Return what all copies do in a turn."""
    if task.env != "CarRacing-v3":
        space = gym.make(task.env).action_space
        space.seed(1)
        return np.array([space.sample() for _ in range(WARM_UP + task.steps)])
    weights = build.make_policy(car_racing.config("close")).initial(1)
    actions = car_racing.record(weights, WARM_UP + task.steps, seed=1)
    return np.resize(actions, (WARM_UP + task.steps, 3)).astype(np.float32)  # one that ends early is repeated


def compare(task: Task, sizes: list[int], repeats: int) -> None:
    """Print the table of an environment."""
    actions = make_actions(task)
    drivers = contenders(task, sizes)
    for driver in drivers:
        driver.turn(actions, WARM_UP * driver.copies)
        driver.wall.clear()
        driver.cpu.clear()
    for _ in range(repeats):
        for driver in drivers:
            driver.turn(actions, task.steps)
    print(f"\n| {task.env} | Copies | Threads | Steps a second | CPU time of a step |")
    print("| --- | --- | --- | --- | --- |")
    for driver in drivers:
        speed, cpu = 1 / np.median(driver.wall), 1e6 * np.median(driver.cpu)
        print(
            f"| {driver.name} | {driver.copies} | {driver.threads} | {speed:,.0f} | {cpu:,.1f} µs |",
            flush=True,
        )
        driver.env.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("environments", nargs="*", default=list(TASKS), help=", ".join(TASKS))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 8, 64])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.environments:
        compare(TASKS[name], options.copies, options.repeats)
    print(f"\nload of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
