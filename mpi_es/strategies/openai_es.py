"""OpenAI's evolution strategy (Salimans et al. 2017, arXiv:1703.03864): a gradient from mirrored noise.

With sgd without momentum and standardized fitness it is augmented random search (arXiv:1803.07055), with a
step size alpha of learning_rate / (2 sigma).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.config.fields import AtMost, Decay, Natural, NotNegative
from mpi_es.errors import expected
from mpi_es.strategies import optimizers
from mpi_es.strategies.base import Noise, Population, Seeded, Strategy, WithNoise, check_pairs
from mpi_es.strategies.optimizers import Memory, decayed
from mpi_es.strategies.shaping import SHAPINGS


@dataclass(frozen=True)
class OpenAIESState:
    """The state of OpenAI-ES between generations; its arrays are replaced, never written to."""

    generation: int
    centre: Vector
    sigma: float
    learning_rate: float
    optimizer: Memory


@dataclass(frozen=True)
class OpenAIESOptions(WithNoise, optimizers.Options):
    """Options of the optimizer and the noise, the schedule of sigma, and how many pairs a step uses."""

    top_directions: Natural = 0
    """Largest number of mirrored pairs that a step uses, those with the best candidates; 0: all"""
    sigma_decay: Decay = 1.0
    """Factor on sigma after each generation"""
    sigma_min: Annotated[NotNegative, AtMost("init_sigma")] = 0.0
    """Lower bound of sigma"""


class OpenAIES(Strategy):
    """Suits many parameters: candidates are a centre and the keys of their noise."""

    Options = OpenAIESOptions
    mirrored = True
    step_option = "--learning-rate"

    def __init__(self, options: OpenAIESOptions, x0: Vector, seed: int, noise: Noise) -> None:
        super().__init__(options, x0, seed, noise)
        check_pairs(self.popsize)
        if not 1e-38 < options.init_sigma < 1e38:
            raise expected("--init-sigma", "a number that single precision holds", options.init_sigma)
        self._shaping, self._optimizer = SHAPINGS[options.shaping], optimizers.make(options)
        memory = self._optimizer.start(len(x0))
        centre = x0.astype(np.float64)
        self.state = OpenAIESState(0, centre, options.init_sigma, options.learning_rate, memory)

    def ask(self) -> Population:
        """Return centre + sigma * noise and centre - sigma * noise for each key."""
        return self.ask_more(0)

    def ask_more(self, batch: int) -> Population:
        """Return another population of the generation."""
        pairs = self.popsize // 2
        keys = self.noise.keys(self.state.generation, (batch + 1) * pairs)  # a larger count only adds keys
        return Seeded(self.state.centre, self.state.sigma, keys[-pairs:])

    def tell(self, population: Population, fitness: Vector) -> None:
        """Climb the gradient of the expected utility. Collective if the noise is."""
        assert isinstance(population, Seeded)
        s, options = self.state, self.options
        pairs = fitness.reshape(-1, 2)
        used = self._used(pairs)
        utilities = self._shaping(pairs[used].ravel())
        # Algorithm 1: the gradient of E u(theta + sigma eps) is E[u eps] / sigma, estimated over n candidates
        # by (1 / (n sigma)) sum_i u_i eps_i. Mirrored, eps_{2i+1} = -eps_{2i}: a sum over pairs of
        # differences. The starter code also subtracts l2coeff * theta (weight decay) from this sum, and does
        # not divide by sigma, which Adam would cancel.
        weights = (utilities[0::2] - utilities[1::2]) / len(utilities)
        ascent = self.noise.weighted_sum(population.keys[used], weights) - options.weight_decay * s.centre
        step, memory = self._optimizer.step(s.optimizer, ascent / s.sigma, s.learning_rate)
        self.state = OpenAIESState(
            generation=s.generation + 1,
            centre=s.centre + step,
            sigma=decayed(s.sigma, options.sigma_decay, options.sigma_min),
            learning_rate=decayed(s.learning_rate, options.lr_decay, options.lr_min),
            optimizer=memory,
        )

    def _used(self, pairs: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the indices of the pairs (n, 2) that a step uses, in ascending order."""
        best_first = np.argsort(-pairs.max(axis=1), kind="stable")
        return np.sort(best_first[: self.options.top_directions or None])
