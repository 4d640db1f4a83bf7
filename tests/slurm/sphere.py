"""A script as users submit it: two searches, of which the second begins where the first ended."""

import subprocess
import sys

import numpy as np

import mpi_es

OPTIONS = {
    "population_size": 6,
    "max_iter": 12,
    "tensorboard": False,
    "checkpoint_interval": 0,
    "seed": 3,
    "minimise": True,
}


def sphere(x):
    """Return the squared distance of x from 1, after a program that takes a while."""
    subprocess.run(["sleep", sys.argv[1]], check=True)
    return float(((x - 1) ** 2).sum())


first = mpi_es.evolve(sphere, np.zeros(3), 0.5, **OPTIONS)
second = mpi_es.evolve(sphere, first.x, 0.01, **OPTIONS)
if mpi_es.rank() == 0:
    print("result", second.x.tobytes().hex(), second.value < first.value)
