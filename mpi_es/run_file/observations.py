"""The group /progress/observations of run.h5: mean and deviation of all observations."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from mpi_es.arrays import Vector
from mpi_es.config.fields import Range

_FLOOR = 1e-4  # of a variance: a number that hardly changes is scaled up by at most 100
COUNTS = Range(1e-3, 1e300)  # of observations
_PRIOR = 1e-2  # observations in the prior: deviation 1, at the mean of the first real ones


@dataclass
class ObservationStatistics:
    """Running statistics of each of the `size` numbers of an observation."""

    count: Annotated[float, COUNTS] = _PRIOR
    mean: Vector = field(default_factory=lambda: np.zeros(0))
    squares: Vector = field(default_factory=lambda: np.zeros(0))  # sums of squared deviations from the mean

    @classmethod
    def of_size(cls, size: int) -> "ObservationStatistics":
        """Return the statistics before the first observation."""
        return cls(_PRIOR, np.zeros(size), np.full(size, _PRIOR))

    @classmethod
    def known(cls, normalisation: Vector, count: float) -> "ObservationStatistics":
        """Return the statistics of an agent trained on `count` observations, from its normalisation."""
        return cls(count, normalisation[0].astype(float), count / normalisation[1].astype(float) ** 2)

    def updated(self, episodes: Vector) -> "ObservationStatistics":
        """Return the statistics with episodes added, each a row of `normalisation.of_episodes`.

        The rows are in the order of the episodes, whichever rank ran them: the result is bit-identical.
        """
        counts, (means, squares) = episodes[:, :1], np.split(episodes[:, 1:], 2, axis=1)
        count = float(counts.sum())
        mean = (counts * means).sum(axis=0) / count
        within = (squares + counts * np.square(means - mean)).sum(axis=0)
        before = mean if self.count == _PRIOR else self.mean
        total = self.count + count
        between = np.square(mean - before) * (self.count * count / total)
        return ObservationStatistics(
            total, before + (mean - before) * (count / total), self.squares + within + between
        )

    @property
    def normalisation(self) -> Vector:
        """The mean and the reciprocal of the deviation, (2, size)."""
        variance = np.maximum(self.squares / self.count, _FLOOR)
        return np.stack([self.mean, 1 / np.sqrt(variance)])
