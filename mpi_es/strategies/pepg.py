"""PEPG, or PGPE, with symmetric sampling (Sehnke et al. 2010, Neural Networks 23(4), 551-559).

As in estool and EvoTorch, an optimizer moves the centre, and each parameter has its own deviation.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from mpi_es import seeds
from mpi_es.arrays import Vector
from mpi_es.config.fields import AtMost, Fraction, NotNegative
from mpi_es.seeds import Stream
from mpi_es.strategies import optimizers
from mpi_es.strategies.base import Dense, Noise, Population, Strategy, check_pairs, row_sum
from mpi_es.strategies.optimizers import Memory, decayed
from mpi_es.strategies.shaping import SHAPINGS, standardized


@dataclass(frozen=True)
class PEPGState:
    """The state of PEPG between generations; its arrays are replaced, never written to."""

    generation: int
    centre: Vector
    sigma: Vector
    learning_rate: float
    optimizer: Memory


@dataclass(frozen=True)
class PEPGOptions(optimizers.Options):
    """Options of the optimizer and of the deviations; the defaults of the deviations are EvoTorch's."""

    sigma_min: Annotated[NotNegative, AtMost("init_sigma")] = 0.0
    """Lower bound of each parameter's sigma"""
    sigma_learning_rate: NotNegative = 0.1
    """Learning rate of the standard deviations"""
    sigma_max_change: Fraction = 0.2
    """Largest relative change of a standard deviation in one generation"""


class PEPG(Strategy):
    """A standard deviation for each parameter, which follows its own gradient."""

    Options = PEPGOptions
    mirrored = True
    step_option = "--learning-rate"

    def __init__(self, options: PEPGOptions, x0: Vector, seed: int, noise: Noise) -> None:
        super().__init__(options, x0, seed, noise)
        check_pairs(self.popsize, least=4)  # with one pair the gradient of sigma is 0
        self._shaping, self._optimizer = SHAPINGS[options.shaping], optimizers.make(options)
        self.state = PEPGState(
            generation=0,
            centre=x0.astype(np.float64),
            sigma=np.full(len(x0), options.init_sigma),
            learning_rate=options.learning_rate,
            optimizer=self._optimizer.start(len(x0)),
        )

    def ask(self) -> Population:
        """Return centre + epsilon and centre - epsilon in turn."""
        return self.ask_more(0)

    def ask_more(self, batch: int) -> Population:
        """Return another population of the generation."""
        s = self.state
        rng = seeds.rng(self.seed, Stream.SAMPLE, s.generation, batch)
        epsilon = s.sigma * rng.standard_normal((self.popsize // 2, len(s.centre)))
        rows = np.empty((self.popsize, len(s.centre)))
        rows[0::2], rows[1::2] = s.centre + epsilon, s.centre - epsilon
        return Dense(rows)

    def tell(self, population: Population, fitness: Vector) -> None:
        """Climb the gradient of the expected utility, in the centre and in the deviations."""
        assert isinstance(population, Dense)
        s, options = self.state, self.options
        utilities = self._shaping(fitness)
        epsilon = (population.rows[0::2] - population.rows[1::2]) / 2  # (pairs, dim)
        step, memory = self._optimizer.step(
            s.optimizer, self._centre_gradient(epsilon, utilities), s.learning_rate
        )
        change = options.sigma_learning_rate * self._sigma_gradient(epsilon, utilities)
        most = options.sigma_max_change * s.sigma
        self.state = PEPGState(
            generation=s.generation + 1,
            centre=s.centre + step,
            sigma=np.maximum(s.sigma + np.clip(change, -most, most), options.sigma_min),
            learning_rate=decayed(s.learning_rate, options.lr_decay, options.lr_min),
            optimizer=memory,
        )

    def _centre_gradient(self, epsilon: Vector, utilities: Vector) -> Vector:
        """Return the mean over pairs of epsilon (r+ - r-) / 2, (dim,), less the weight decay.

        It is sigma^2 times the gradient. The decay is scaled as in openai_es, where epsilon is over sigma.
        """
        half_difference = (utilities[0::2] - utilities[1::2]) / 2
        decay = self.options.weight_decay * self.state.sigma * self.state.centre
        return np.asarray(row_sum(half_difference, epsilon) / len(epsilon) - decay)

    def _sigma_gradient(self, epsilon: Vector, utilities: Vector) -> Vector:
        """Return the mean over pairs of ((r+ + r-) / 2 - b) (epsilon^2 - sigma^2) / sigma, (dim,).

        The baseline b is the mean utility. Whatever the shaping, utilities are scaled here to the deviation
        of centred ranks, so that a learning rate has the same effect as in EvoTorch, and half that in estool.
        """
        n = len(utilities)
        scores = standardized(utilities) * np.sqrt((n + 1) / (12 * (n - 1)))
        sigma = self.state.sigma
        means = (scores[0::2] + scores[1::2]) / 2
        return row_sum(means, (np.square(epsilon) - np.square(sigma)) / sigma) / len(epsilon)
