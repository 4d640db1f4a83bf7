"""Observation normalisation: the statistics of episodes, and the observations that a policy gets."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector

CLIP = 5.0  # as in OpenAI's starter code; larger values would let one rare observation dominate


def of_episodes(counts: NDArray[np.int64], firsts: Vector, sums: Vector) -> Vector:
    """Return the counts, means and sums of squared deviations of k episodes, (k, 1 + 2 * size).

    Args:
        firsts: observations (k, size).
        sums: (k, 2, size) of the observations' differences to the first, and of their squares.
    """
    differences = sums[:, 0] / counts[:, None]
    with np.errstate(invalid="ignore"):  # where an observation was infinite: NaN, which the rollout refuses
        means, deviations = firsts + differences, sums[:, 1] - sums[:, 0] * differences
    return np.concatenate([counts[:, None], means, deviations], axis=1)


def normalise(observations: NDArray[Any], normalisation: Vector) -> NDArray[np.float32]:
    """Return observations (k, size) with about mean 0 and deviation 1, within [-5, 5]."""
    scaled: NDArray[np.float32] = ((observations - normalisation[0]) * normalisation[1]).astype(np.float32)
    return np.clip(scaled, -CLIP, CLIP, out=scaled)
