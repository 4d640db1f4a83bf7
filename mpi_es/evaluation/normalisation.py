"""Observation normalisation: what an episode saw, and observations as a policy gets them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector

CLIP = 5.0  # as OpenAI's starter: beyond it a rare observation would drive the network alone


def of_episode(count: int, first: Vector, sums: Vector) -> Vector:
    """Return an episode's count, means and sums of squared deviations, (1 + 2 * size,).

    Args:
        first: observation (size,).
        sums: (2, size) of the observations' differences to the first, and of their squares.
    """
    difference = sums[0] / count
    return np.concatenate([[count], first + difference, sums[1] - sums[0] * difference])


def normalise(observations: NDArray[Any], normalisation: Vector) -> NDArray[np.float32]:
    """Return observations (k, size) with about mean 0 and deviation 1, within [-5, 5]."""
    scaled: NDArray[np.float32] = ((observations - normalisation[0]) * normalisation[1]).astype(np.float32)
    return np.clip(scaled, -CLIP, CLIP, out=scaled)
