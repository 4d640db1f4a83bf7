"""Mean returns in words and numbers, with how far they can be trusted."""

import math

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.text import number


def summary(returns: NDArray[np.float64]) -> str:
    """Return mean, deviation, extremes and the 95 % interval of the mean."""
    n, mean = len(returns), float(returns.mean())
    if n == 1:
        return f"{number(mean)} in one episode"
    deviation = float(returns.std(ddof=1))
    half = 1.96 * deviation / math.sqrt(n)
    values = (mean, deviation, returns.min(), returns.max(), mean - half, mean + half)
    mean_, spread, least, most, low, high = map(number, values)
    return (
        f"mean {mean_} +/- {spread} over {n} episodes, min {least}, max {most}, "
        f"95 % interval of the mean [{low}, {high}]"
    )


def half_interval(returns: Vector) -> float:
    """Return half of the 95 % interval of the mean, 0 for one episode, of which nothing is known."""
    n = len(returns)
    return float(1.96 * returns.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
