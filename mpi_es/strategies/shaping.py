"""From fitness (popsize,) to utilities (popsize,), which a strategy then averages."""

from collections.abc import Callable

import numpy as np

from mpi_es.arrays import Vector
from mpi_es.errors import expected

Shaping = Callable[[Vector], Vector]
LARGEST = 1e19  # whose square is finite in single precision


def centered(fitness: Vector) -> Vector:
    """Return ranks scaled to [-0.5, 0.5], the best highest; ties share their mean rank."""
    ordered = np.sort(fitness)
    worse = np.searchsorted(ordered, fitness, side="left")
    not_better = np.searchsorted(ordered, fitness, side="right")
    last = len(fitness) - 1
    return ((worse + not_better - 1) / 2 - last / 2) / max(last, 1)


def log_rank(fitness: Vector) -> Vector:
    """Return max(0, log2(n/2 + 1) - log2(rank + 1)), normalised to sum 1; the best has rank 0.

    Ties share the mean of their utilities. These are those of pytorch-es, and of natural evolution strategies
    (arXiv:1106.4487, section 3.1) up to a constant, which cancels between mirrored candidates.
    """
    n = len(fitness)
    utilities = np.maximum(0.0, np.log2(n / 2 + 1) - np.log2(np.arange(1, n + 1)))
    sums = np.append(0.0, np.cumsum(utilities / utilities.sum()))
    ordered = np.sort(-fitness)
    first = np.searchsorted(ordered, -fitness, side="left")
    last = np.searchsorted(ordered, -fitness, side="right")
    return np.asarray((sums[last] - sums[first]) / (last - first))


def standardized(fitness: Vector) -> Vector:
    """Return (fitness - mean) / deviation, or zeros if all are equal."""
    if fitness.max() == fitness.min():  # the deviation of equal numbers may not round to 0
        return np.zeros(len(fitness))
    scaled = fitness / np.abs(fitness).max()  # no sum or square of huge numbers is infinite
    centred = scaled - scaled.mean()
    centred /= np.abs(centred).max()  # no square of tiny numbers is 0
    return np.asarray(centred / centred.std())


def raw(fitness: Vector) -> Vector:
    """Return the fitness unchanged."""
    if (largest := np.abs(fitness).max()) > LARGEST:
        rule = f"a fitness below {LARGEST:g} in size"
        raise expected("--shaping raw", rule, float(largest), "use --shaping centered")
    return fitness.astype(np.float64)


SHAPINGS: dict[str, Shaping] = {
    "centered": centered,
    "log-rank": log_rank,
    "standardized": standardized,
    "raw": raw,
}
