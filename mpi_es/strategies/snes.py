"""SNES, separable natural evolution strategies (Schaul, Glasmachers and Schmidhuber 2011, GECCO, 845-852).

Symbols and defaults are those of the long paper, arXiv:1106.4487, section 3.4 and table 1.
"""

from dataclasses import dataclass

import numpy as np

from mpi_es import seeds
from mpi_es.arrays import Vector
from mpi_es.errors import expected
from mpi_es.seeds import Stream
from mpi_es.strategies.base import Dense, Population, row_sum
from mpi_es.strategies.optimizers import decayed
from mpi_es.strategies.shaping import log_rank


@dataclass(frozen=True)
class SNESState:
    """What a run of SNES knows after a generation; its arrays are replaced, never written to."""

    generation: int
    centre: Vector
    sigma: Vector
    learning_rate: float  # of the centre; the paper's eta_mu


class SNES:
    """A base.Strategy with a standard deviation for each parameter, which follows the natural gradient."""

    def __init__(
        self,
        x0: Vector,
        sigma: float,
        popsize: int,
        seed: int,
        *,
        learning_rate: float = 1.0,
        lr_decay: float = 1.0,
        lr_min: float = 0.0,
    ) -> None:
        if popsize < 2:
            raise expected("--population-size", "2 or more for snes", popsize)
        self._popsize, self._seed = popsize, seed
        dim = len(x0)
        self._eta_sigma = (3 + np.log(dim)) / (5 * np.sqrt(dim))
        self._lr_decay, self._lr_min = lr_decay, lr_min
        self.state = SNESState(0, x0.astype(np.float64), np.full(dim, float(sigma)), float(learning_rate))

    @property
    def popsize(self) -> int:
        """The number of candidates that ask returns."""
        return self._popsize

    @property
    def centre(self) -> Vector:
        """The centre (dim,)."""
        return self.state.centre

    @property
    def sigma(self) -> float:
        """The geometric mean of the deviations."""
        return float(np.exp(np.log(self.state.sigma).mean()))

    @property
    def learning_rate(self) -> float:
        """The learning rate of the centre in the next generation."""
        return self.state.learning_rate

    def ask(self) -> Population:
        """Return candidates drawn around the centre."""
        return self.ask_more(0)

    def ask_more(self, batch: int) -> Population:
        """Return another population of the generation."""
        s = self.state
        rng = seeds.rng(self._seed, Stream.SAMPLE, s.generation, batch)
        return Dense(s.centre + s.sigma * rng.standard_normal((self._popsize, len(s.centre))))

    def tell(self, population: Population, fitness: Vector) -> None:
        """Follow the natural gradient of the expected utility, in the centre and in the deviations."""
        assert isinstance(population, Dense)
        s = self.state
        utilities = log_rank(fitness) - 1 / len(fitness)  # their sum is 0: equal fitness changes nothing
        steps = (population.rows - s.centre) / s.sigma
        self.state = SNESState(
            generation=s.generation + 1,
            centre=s.centre + s.learning_rate * s.sigma * row_sum(utilities, steps),
            sigma=s.sigma * np.exp(self._eta_sigma / 2 * row_sum(utilities, np.square(steps) - 1)),
            learning_rate=decayed(s.learning_rate, self._lr_decay, self._lr_min),
        )
