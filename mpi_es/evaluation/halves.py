"""How far two halves of a generation's episodes agree in their ranking of the candidates."""

import math

import numpy as np

from mpi_es.arrays import Vector


def agreement_of_halves(returns: Vector) -> float:
    """Return the rank correlation of the means of two halves of each candidate's episodes.

    NaN if each candidate has only one episode, or if all candidates are equal in a half.

    Args:
        returns: (candidates, episodes); the last of an odd number of episodes is ignored.
    """
    half = returns.shape[1] // 2
    if not half:
        return math.nan
    one, other = (_places(part.mean(axis=1)) for part in (returns[:, :half], returns[:, half : 2 * half]))
    one, other = one - one.mean(), other - other.mean()
    norm = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / norm if norm else math.nan


def _places(values: Vector) -> Vector:
    """Return the places of values in their order, the mean place for those that are equal."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]
