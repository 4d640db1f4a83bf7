"""Integers in CMA-ES: Marty, Hansen, Auger, Semet and Héron, LB+IC-CMA-ES, PPSN 2024, as in pycma.

A function gets integers rounded, so a step below the distance between integers changes nothing. A lower bound
on the standard deviation (cma_es.py) keeps some candidates on integers other than the mean's. These are moved
to the middle of their integers before the update, so that the mean follows them.
"""

from typing import NamedTuple

import numpy as np

from mpi_es.arrays import Vector


class Grid(NamedTuple):
    """Which of a strategy's parameters are integers, (dim,) each."""

    distance: Vector  # between integers; 0 for continuous parameters
    lower: Vector  # bounds of integers
    upper: Vector


def centre_integers(rows: Vector, mean: Vector, grid: Grid) -> None:
    """Move candidates (n, dim) in place to their integers, where these differ from the mean's.

    Beyond a bound they move onto it first: the mean would otherwise leave the bounds, where x is reflected.
    The other candidates move towards the mean's integer, so far that the average does not shift.
    """
    whole = np.flatnonzero(grid.distance)
    distance, lower, upper = (of_all[whole] for of_all in grid)
    x, at_mean = np.clip(rows[:, whole], lower, upper) / distance, np.round(mean[whole] / distance)
    nearest = np.round(x)
    same, away = nearest == at_mean, nearest - x
    bias = np.asarray(sum(np.where(same, 0, away)))
    x = np.where(same, x, nearest)
    share = np.zeros(len(whole))
    for side in (away > 0, away < 0):
        room = np.asarray(sum(np.where(same & side, away, 0)))
        opposite = bias * room < 0
        share[opposite] = np.minimum(1, -bias[opposite] / room[opposite])
    back = same & (bias * (at_mean - x) < 0)
    x += np.where(back, share * (at_mean - x), 0)
    rows[:, whole] = x * distance
