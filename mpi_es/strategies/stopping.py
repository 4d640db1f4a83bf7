"""When a start of CMA-ES is over: the criteria of arXiv:1604.00772, B.3, that also suit noisy fitness.

One of pycma's is omitted: a single generation of equal fitness (tolflatfitness) is common with sparse
rewards. Those on the covariance (noeffectaxis, noeffectcoord, tolconditioncov) are in cma_es.
"""

import math
from typing import Any

import numpy as np

from mpi_es.arrays import Vector

GROWN = (
    1e3  # tolfacupx: with a deviation this many times the initial sigma, that was too small, or it diverges
)
VANISHED = 1e-11  # tolx, as a share of the first deviation, as in the paper; pycma's is absolute
FLAT = 1e-11  # tolfun, in units of fitness
LONGEST = 20_000  # generations that are recorded, as in the paper
SHORTEST = 500  # generations before a start may stagnate, as in pycma
# Most generations that the test of stagnation compares at first: with a network's number of parameters,
# pycma's 100 + 100 dim^1.5 / popsize is longer than a run.
WINDOW = 2_000

Record = dict[str, Any]  # the results of a start; its values are replaced, never written to


def new_record() -> Record:
    """Return the record of a start before its first generation."""
    nothing = np.zeros(0)
    return {"generations": 0, "highest_mean": -math.inf, "spread": 0.0, "best": nothing, "median": nothing}


def extended(record: Record, fitness: Vector) -> Record:
    """Return a start's record after one more generation, of this fitness (popsize,)."""
    best, worst = float(fitness.max()), float(fitness.min())
    return {
        "generations": record["generations"] + 1,
        "highest_mean": max(record["highest_mean"], float(fitness.mean())),
        "spread": 0.0 if best == worst else best - worst,  # also if both are infinite
        "best": np.append(record["best"], best)[-LONGEST:],
        "median": np.append(record["median"], float(np.median(fitness)))[-LONGEST:],
    }


def why_over(record: Record, popsize: int, deviations: Vector, first: Vector) -> str:
    """Return why a start should end; empty if it should continue.

    Args:
        deviations: the current ones of the parameters, (dim,).
        first: those of the start's first population.
    """
    if (deviations > GROWN * first).any():
        return f"a deviation has grown {GROWN:g} times"
    if (deviations < VANISHED * first).all():
        return "the deviations have vanished"
    span = math.ceil(30 * len(deviations) / popsize)
    recent = record["best"][-(10 + span) :]
    may_be = len(recent) == 10 + span and record["spread"] < FLAT
    if may_be and float(recent.max()) - float(recent.min()) < FLAT:  # infinities have no range
        return "fitness is flat"
    return "no progress" if stagnates(record, popsize, len(deviations)) else ""


def stagnates(record: Record, popsize: int, dim: int) -> bool:
    """Return whether neither the best nor the median fitness rises any more: pycma's tolstagnation.

    It compares medians over the two halves of the latest generations, which averages out the noise of single
    generations.
    """
    generations = record["generations"]
    window = min(100 + 100 * dim**1.5 / popsize, WINDOW)
    half = min(int(max(window, generations / 5) / 2), LONGEST // 2)
    if generations <= max(SHORTEST, 2 * half, dim * (5 + 100 / popsize)):
        return False
    newest = int(window / 2)
    if record["best"][-newest:].max() > record["best"][:-newest].max():
        return False
    for name in ("best", "median"):
        seen = record[name][-2 * half :]
        if np.median(seen[half:]) > np.median(seen[:half]):
            return False
    return True
