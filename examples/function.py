"""Evolve a function: three weights, without gradients.

From this folder, in one process or on all ranks of a job:

    python function.py
    mpiexec -n 2 python function.py
"""

import numpy as np

import mpi_es

SOLUTION = np.array([0.5, 0.1, -0.3])


def reward(weights):
    """Return how good the weights are; no gradient of it is needed."""
    return -np.sum((weights - SOLUTION) ** 2)


def main():
    result = mpi_es.evolve(
        reward,
        np.random.default_rng(0).standard_normal(3),
        sigma=0.1,
        strategy="openai_es",
        shaping="standardized",
        optimizer="sgd",
        momentum=0.0,
        learning_rate=0.01,
        population_size=50,
        max_iter=300,
        console="silent",
    )
    if mpi_es.rank() == 0:
        print(f"found {result.centre.round(3)}, with reward {result.value_of_centre:.2g}")
        print(f"{result.evaluations} evaluations, saved in {result.run_dir}")


if __name__ == "__main__":
    main()
