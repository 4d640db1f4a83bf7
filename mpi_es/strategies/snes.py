"""SNES, separable natural evolution strategies (Schaul, Glasmachers and Schmidhuber 2011, GECCO, 845-852).

Symbols and defaults are those of the long paper, arXiv:1106.4487, section 3.4 and table 1.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from mpi_es import seeds
from mpi_es.arrays import Vector
from mpi_es.config.fields import Alias, AtMost, Decay, Needs, NotNegative, Positive
from mpi_es.errors import expected
from mpi_es.seeds import Stream
from mpi_es.strategies.base import SMALLEST_SIGMA, Dense, Growing, Noise, Population, Strategy, row_sum
from mpi_es.strategies.optimizers import decayed
from mpi_es.strategies.shaping import log_rank


@dataclass(frozen=True)
class SNESState:
    """The state of SNES between generations; its arrays are replaced, never written to."""

    generation: int
    centre: Vector
    sigma: Vector
    learning_rate: float  # of the centre; the paper's eta_mu


@dataclass(frozen=True)
class SNESOptions(Growing):
    """Options of the centre's learning rate; the paper's values are the defaults."""

    centre_learning_rate: Annotated[Positive, Alias("--center-learning-rate")] = 1.0
    """Factor on the steps of the centre, 1 in the paper; larger factors leave a flat start sooner"""
    lr_decay: Annotated[Decay, Alias("--decay")] = 1.0
    """Factor on the learning rate after each generation"""
    lr_min: Annotated[NotNegative, AtMost("centre_learning_rate"), Needs("lr_decay")] = 0.0
    """Lower bound of the decaying learning rate"""


class SNES(Strategy):
    """A standard deviation for each parameter, which follows the natural gradient."""

    Options = SNESOptions
    step_option = "--init-sigma or --centre-learning-rate"

    def __init__(self, options: SNESOptions, x0: Vector, seed: int, noise: Noise) -> None:
        super().__init__(options, x0, seed, noise)
        if self.popsize < 2:
            raise expected("--population-size", "2 or more for snes", self.popsize)
        dim = len(x0)
        self._eta_sigma = (3 + np.log(dim)) / (5 * np.sqrt(dim))
        sigma = np.full(dim, options.init_sigma)
        self.state = SNESState(0, x0.astype(np.float64), sigma, options.centre_learning_rate)

    def ask(self) -> Population:
        """Return candidates drawn around the centre."""
        return self.ask_more(0)

    def ask_more(self, batch: int) -> Population:
        """Return another population of the generation."""
        s = self.state
        rng = seeds.rng(self.seed, Stream.SAMPLE, s.generation, batch)
        return Dense(s.centre + s.sigma * rng.standard_normal((self.popsize, len(s.centre))))

    def tell(self, population: Population, fitness: Vector) -> None:
        """Follow the natural gradient of the expected utility, in the centre and in the deviations."""
        assert isinstance(population, Dense)
        s = self.state
        utilities = log_rank(fitness) - 1 / len(fitness)  # they sum to 0: equal fitness changes nothing
        steps = (population.rows - s.centre) / s.sigma
        growth = self._eta_sigma / 2 * row_sum(utilities, np.square(steps) - 1)
        self.state = SNESState(
            generation=s.generation + 1,
            centre=s.centre + s.learning_rate * s.sigma * row_sum(utilities, steps),
            sigma=np.maximum(s.sigma * np.exp(growth), SMALLEST_SIGMA),
            learning_rate=decayed(s.learning_rate, self.options.lr_decay, self.options.lr_min),
        )
