"""Observation normalisation: sums over whole episodes, added in the order of the episodes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

CLIP = 5.0  # as OpenAI's starter: beyond it a rare observation would drive the network alone
_PRIOR = 1e-2  # observations of mean 0 and deviation 1 that count before the first real one
# Observations as which a given normalisation counts. A generation sees some 1e5: it changes the numbers on
# which the agent was trained by a tenth of what is new in it.
_KNOWN = 1e6


@dataclass
class ObservationSums:
    """What was seen so far of each of `size` observed numbers."""

    count: float = _PRIOR
    total: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    squares: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of_size(cls, size: int) -> "ObservationSums":
        """Return the sums before anything was seen."""
        return cls(_PRIOR, np.zeros(size), np.full(size, _PRIOR))

    @classmethod
    def known(cls, normalisation: NDArray[np.float32]) -> "ObservationSums":
        """Return sums with this normalisation, that of an agent which was trained before."""
        mean, deviation = normalisation[0].astype(float), 1 / normalisation[1].astype(float)
        return cls(_KNOWN, _KNOWN * mean, _KNOWN * (deviation**2 + mean**2))

    def updated(self, sums: NDArray[np.float64]) -> "ObservationSums":
        """Return the sums with episodes (n, 1 + 2 * size) added: lengths, sums and sums of squares.

        The rows lie in the order of the episodes whoever ran them, so the result is the same to the bit.
        """
        count, total, squares = sums[:, 0].sum(), *np.split(sums[:, 1:].sum(axis=0), 2)
        return ObservationSums(self.count + float(count), self.total + total, self.squares + squares)

    @property
    def normalisation(self) -> NDArray[np.float32]:
        """The mean and the reciprocal of the deviation, (2, size)."""
        mean = self.total / self.count
        variance = np.maximum(self.squares / self.count - mean**2, 1e-4)
        return np.asarray(np.stack([mean, 1 / np.sqrt(variance)]), np.float32)


def normalise(observations: NDArray[Any], normalisation: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return observations (k, size) with about mean 0 and deviation 1, within [-5, 5]."""
    scaled: NDArray[np.float32] = (observations.astype(np.float32) - normalisation[0]) * normalisation[1]
    return np.clip(scaled, -CLIP, CLIP, out=scaled)
