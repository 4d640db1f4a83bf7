"""Evolve a teacher: a small network that knows the track and drives CarRacing without a picture.

mpiexec -n 2 python benchmarks/studies/imitation/teacher.py [--generations 200] [--seed 1]
                                                            [--run-dir runs/teacher]

It learns with noise on its outputs, so that it keeps away from the edges. Without a picture a step takes ten
microseconds. At the end it drives 200 fresh tracks without noise.
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from road import OUTPUTS, PARAMETERS, SENSES, STEPS, Network, act, answer, compiled, network, sense

import mpi_es
from mpi_es.envs.car_racing import simulation
from mpi_es.envs.car_racing.simulation import Simulation

NOISE = 0.1  # standard deviation, before the tanh
FIRST_TRACK = 500_000
CAR = simulation.allocate()


@compiled
def drive(car: Simulation, driver: Network, seed: int, noise: NDArray[np.float32]) -> float:
    """Return the return of a drive on the track of a seed."""
    simulation.begin(car, seed)
    senses, outputs = np.zeros(SENSES, np.float32), np.zeros(OUTPUTS, np.float32)
    first, second = np.zeros_like(driver.first_bias), np.zeros_like(driver.second_bias)
    action, total, over, step = np.zeros(OUTPUTS), 0.0, False, 0
    while not over and step < len(noise):
        sense(car.world, car.physics, action, senses)
        answer(driver, senses, first, second, outputs)
        act(outputs + noise[step], action)
        reward, over = simulation.move(car, action[0], action[1], action[2])
        total += reward
        step += 1
    return total


def score(x: NDArray[np.float64], seed: int) -> float:
    """Return how well the network of parameters x drives the track of a seed."""
    noise = NOISE * np.random.default_rng(seed).standard_normal((STEPS, OUTPUTS))
    return drive(CAR, network(x), seed, noise.astype(np.float32))


def main() -> None:
    """Evolve, and print how the teacher drives."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--generations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run-dir", default="runs/teacher")
    options = parser.parse_args()
    result = mpi_es.evolve(
        score,
        np.zeros(PARAMETERS),
        sigma=0.1,
        strategy="snes",
        centre_learning_rate=2.0,
        population_size=64,
        num_rollouts=2,
        episode_seeds="common",
        eval_every=0,
        max_iter=options.generations,
        seed=options.seed,
        run_dir=options.run_dir,
    )
    if mpi_es.rank() == 0:
        still = np.zeros((STEPS, OUTPUTS), np.float32)
        scores = [drive(CAR, network(result.centre), FIRST_TRACK + i, still) for i in range(200)]
        error = np.std(scores) / len(scores) ** 0.5
        print(f"200 tracks: {np.mean(scores):.1f} ± {error:.1f}, the lowest {min(scores):.0f}")


if __name__ == "__main__":
    main()
