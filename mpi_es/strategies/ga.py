"""A simple genetic algorithm with truncation selection and an elite: Deep GA, arXiv:1712.06567."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from mpi_es import seeds
from mpi_es.arrays import Vector
from mpi_es.config.fields import AtMost, Decay, Natural, NotNegative
from mpi_es.errors import expected
from mpi_es.seeds import Stream
from mpi_es.strategies import base
from mpi_es.strategies.base import Dense, Noise, Population, Strategy
from mpi_es.strategies.optimizers import decayed


@dataclass(frozen=True)
class GAState:
    """The state of the GA between generations; its arrays are replaced, never written to."""

    generation: int
    parents: Vector  # (up to `parents`, dim), the best first, which is the elite
    sigma: float


@dataclass(frozen=True)
class GAOptions(base.Options):
    """The number of parents, and the size of mutations."""

    parents: Natural = 0
    """Number of best candidates that become parents; 0: a tenth of the population"""
    sigma_decay: Decay = 1.0
    """Factor on sigma after each generation"""
    sigma_min: Annotated[NotNegative, AtMost("init_sigma")] = 0.0
    """Lower bound of sigma"""


class GA(Strategy):
    """Candidates are the elite and mutated copies of the best candidates of the last generation.

    The elite is the best candidate of a generation, and the centre. It is evaluated again with its children
    on new episodes, so that it does not stay by luck; if fitness is exact it is the best candidate so far.
    """

    Options = GAOptions

    def __init__(self, options: GAOptions, x0: Vector, seed: int, noise: Noise) -> None:
        super().__init__(options, x0, seed, noise)
        if self.popsize < 2:
            raise expected("--population-size", "2 or more for ga: the elite and a child", self.popsize)
        if options.parents > self.popsize:
            raise expected("--parents", f"at most --population-size {self.popsize}", options.parents)
        self._parents = options.parents or max(1, self.popsize // 10)  # the share of estool's SimpleGA
        self.state = GAState(0, x0.astype(np.float64)[np.newaxis], options.init_sigma)

    @property
    def centre(self) -> Vector:
        """The elite (dim,): the best candidate of the last generation."""
        elite: Vector = self.state.parents[0]
        return elite

    def ask(self) -> Population:
        """Return the elite, and children of uniformly drawn parents."""
        s = self.state
        rng = seeds.rng(self.seed, Stream.SAMPLE, s.generation)
        chosen = rng.integers(0, len(s.parents), self.popsize - 1)
        mutations = rng.standard_normal((self.popsize - 1, s.parents.shape[1]))
        return Dense(np.concatenate([s.parents[:1], s.parents[chosen] + s.sigma * mutations]))

    def tell(self, population: Population, fitness: Vector) -> None:
        """Make the best candidates the next parents; the elite comes first among equal ones."""
        assert isinstance(population, Dense)
        s = self.state
        best = np.argsort(-fitness, kind="stable")[: self._parents]
        sigma = decayed(s.sigma, self.options.sigma_decay, self.options.sigma_min)
        self.state = GAState(s.generation + 1, population.rows[best], sigma)
