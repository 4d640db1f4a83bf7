"""How far a candidate's episodes agree with each other, and how many episodes each candidate needs.

The more two halves of a generation's episodes differ in their ranking of the candidates, the noisier the
returns are. From their rank correlation follows that of single episodes, and by the Spearman-Brown formula
that of any number.
"""

import math

import numpy as np

from mpi_es.arrays import Vector

# Lower bound on the agreement of single episodes; if ranks are chance, the estimate may be negative.
_LEAST = 1e-3


def agreement(returns: Vector) -> float:
    """Return the rank correlation of the means of two halves of each candidate's episodes.

    NaN if each candidate has only one episode, or if all candidates are equal in a half.

    Args:
        returns: (candidates, episodes); the last of an odd number of episodes is ignored.
    """
    half = returns.shape[1] // 2
    if not half:
        return math.nan
    one, other = (_ranks(part.mean(axis=1)) for part in (returns[:, :half], returns[:, half : 2 * half]))
    one, other = one - one.mean(), other - other.mean()
    norm = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / norm if norm else math.nan


def of_one(agreement: float, episodes: int) -> float:
    """Return the agreement of single episodes, given that of the halves of `episodes`."""
    half = episodes // 2
    return agreement / (half - (half - 1) * agreement)


def needed(single: float, wanted: float) -> int:
    """Return the even number of episodes whose halves agree as wanted if
    single episodes agree by `single`.
    """
    single = max(single, _LEAST)
    return 2 * max(1, math.ceil(wanted * (1 - single) / (single * (1 - wanted)) - 1e-9))


def _ranks(values: Vector) -> Vector:
    """Return the ranks of values, the mean rank for those that are equal."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]
