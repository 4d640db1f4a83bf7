"""How far the episodes of candidates agree, and how many each candidate needs.

Where two halves of a generation's episodes rank the candidates differently, noise is loud. Their rank
correlation says how much one episode tells, and by the formula of Spearman and Brown how much several tell.
"""

import math

import numpy as np

from mpi_es.arrays import Vector

# The least that an episode is thought to tell; where ranks are chance, the estimate may be negative.
_LEAST = 1e-3


def agreement(returns: Vector) -> float:
    """Return the rank correlation of the means of two halves of each candidate's episodes.

    NaN where there is one episode each, or where a half does not tell the candidates apart.

    Args:
        returns: (candidates, episodes); of an odd number the last is left out.
    """
    half = returns.shape[1] // 2
    if not half:
        return math.nan
    one, other = (_ranks(part.mean(axis=1)) for part in (returns[:, :half], returns[:, half : 2 * half]))
    one, other = one - one.mean(), other - other.mean()
    norm = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / norm if norm else math.nan


def of_one(agreement: float, episodes: int) -> float:
    """Return the agreement of single episodes that halves of `episodes` with this agreement imply."""
    half = episodes // 2
    return agreement / (half - (half - 1) * agreement)


def needed(single: float, wanted: float) -> int:
    """Return the even number of episodes whose halves agree as wanted where single ones agree by `single`."""
    single = max(single, _LEAST)
    return 2 * max(1, math.ceil(wanted * (1 - single) / (single * (1 - wanted)) - 1e-9))


def _ranks(values: Vector) -> Vector:
    """Return the ranks of values, the mean rank for those that are equal."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]
