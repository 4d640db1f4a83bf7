"""A simple genetic algorithm with truncation selection and an elite: Deep GA, arXiv:1712.06567."""

from dataclasses import dataclass

import numpy as np

from mpi_es import seeds
from mpi_es.arrays import Vector
from mpi_es.errors import expected
from mpi_es.seeds import Stream
from mpi_es.strategies.base import Dense, Population
from mpi_es.strategies.optimizers import decayed


@dataclass(frozen=True)
class GAState:
    """What a run of the GA knows after a generation; its arrays are replaced, never written to."""

    generation: int
    parents: Vector  # (up to `parents`, dim), the best first: it is the elite
    sigma: float


class GA:
    """A base.Strategy whose candidates are the elite and mutated copies of the best of the last generation.

    The elite is the best of a generation. It is evaluated again with its children, on their terms, so that
    luck does not keep it; where fitness is exact it is the best candidate so far. It is the centre.

    Args:
        parents: the best candidates that have children; 0: a tenth of the population.
    """

    def __init__(
        self,
        x0: Vector,
        sigma: float,
        popsize: int,
        seed: int,
        *,
        parents: int = 0,
        sigma_decay: float = 1.0,
        sigma_min: float = 0.0,
    ) -> None:
        if popsize < 2:
            raise expected("--population-size", "2 or more for ga: the elite and a child", popsize)
        if parents > popsize:
            raise expected("--parents", f"at most --population-size {popsize}", parents)
        self._popsize, self._seed = popsize, seed
        self._parents = parents or max(1, popsize // 10)  # the share of estool's SimpleGA
        self._sigma_decay, self._sigma_min = sigma_decay, sigma_min
        self.state = GAState(0, x0.astype(np.float64)[np.newaxis], float(sigma))

    @property
    def popsize(self) -> int:
        """The number of candidates that ask returns."""
        return self._popsize

    @property
    def centre(self) -> Vector:
        """The elite (dim,): the best candidate of the last generation."""
        elite: Vector = self.state.parents[0]
        return elite

    @property
    def sigma(self) -> float:
        """The standard deviation of the mutations."""
        return self.state.sigma

    def ask(self) -> Population:
        """Return the elite, and children of parents that are drawn uniformly."""
        s = self.state
        rng = seeds.rng(self._seed, Stream.SAMPLE, s.generation)
        chosen = rng.integers(0, len(s.parents), self._popsize - 1)
        mutations = rng.standard_normal((self._popsize - 1, s.parents.shape[1]))
        return Dense(np.concatenate([s.parents[:1], s.parents[chosen] + s.sigma * mutations]))

    def tell(self, population: Population, fitness: Vector) -> None:
        """Make the best candidates the next parents; where they are equal the elite comes first."""
        assert isinstance(population, Dense)
        s = self.state
        best = np.argsort(-fitness, kind="stable")[: self._parents]
        sigma = decayed(s.sigma, self._sigma_decay, self._sigma_min)
        self.state = GAState(s.generation + 1, population.rows[best], sigma)
