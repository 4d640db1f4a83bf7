"""OpenAI's evolution strategy (Salimans et al. 2017, arXiv:1703.03864): a gradient from mirrored noise."""

from dataclasses import dataclass

import numpy as np

from mpi_es.arrays import Vector
from mpi_es.strategies.base import Noise, Population, Seeded, check_pairs
from mpi_es.strategies.optimizers import Memory, Optimizer, decayed
from mpi_es.strategies.shaping import Shaping


@dataclass(frozen=True)
class OpenAIESState:
    """What a run of OpenAI-ES knows after a generation; its arrays are replaced, never written to."""

    generation: int
    centre: Vector
    sigma: float
    learning_rate: float
    optimizer: Memory


class OpenAIES:
    """A base.Strategy for many parameters: candidates are a centre and the keys of their noise.

    Args:
        noise: makes the perturbations, and adds them up; collective where ranks share that work.
        weight_decay: the pull towards zero, counted as the l2coeff of OpenAI's starter code.
    """

    def __init__(
        self,
        x0: Vector,
        sigma: float,
        popsize: int,
        noise: Noise,
        shaping: Shaping,
        optimizer: Optimizer,
        *,
        learning_rate: float,
        lr_decay: float = 1.0,
        lr_min: float = 0.0,
        sigma_decay: float = 1.0,
        sigma_min: float = 0.0,
        weight_decay: float = 0.0,
    ) -> None:
        check_pairs(popsize)
        self._popsize, self._noise = popsize, noise
        self._shaping, self._optimizer = shaping, optimizer
        self._lr_decay, self._lr_min = lr_decay, lr_min
        self._sigma_decay, self._sigma_min = sigma_decay, sigma_min
        self._weight_decay = weight_decay
        memory = optimizer.start(len(x0))
        self.state = OpenAIESState(0, x0.astype(np.float64), float(sigma), float(learning_rate), memory)

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
        """The standard deviation of the perturbations."""
        return self.state.sigma

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next generation."""
        return self.state.learning_rate

    def ask(self) -> Population:
        """Return centre + sigma * noise and centre - sigma * noise for each key."""
        return self.ask_more(0)

    def ask_more(self, batch: int) -> Population:
        """Return another population of the generation."""
        pairs = self._popsize // 2
        keys = self._noise.keys(self.state.generation, (batch + 1) * pairs)  # a longer call adds keys
        return Seeded(self.state.centre, self.state.sigma, keys[-pairs:])

    def tell(self, population: Population, fitness: Vector) -> None:
        """Climb the gradient of the expected utility. Collective where the noise is."""
        assert isinstance(population, Seeded)
        s = self.state
        utilities = self._shaping(fitness)
        # Algorithm 1: the gradient of E u(theta + sigma eps) is E[u eps] / sigma, estimated over n candidates
        # by (1 / (n sigma)) sum_i u_i eps_i. Mirrored, eps_{2i+1} = -eps_{2i}: a sum over pairs of
        # differences. The starter code subtracts l2coeff * theta from this before it is over sigma.
        weights = (utilities[0::2] - utilities[1::2]) / len(fitness)
        ascent = self._noise.weighted_sum(population.keys, weights) - self._weight_decay * s.centre
        step, memory = self._optimizer.step(s.optimizer, ascent / s.sigma, s.learning_rate)
        self.state = OpenAIESState(
            generation=s.generation + 1,
            centre=s.centre + step,
            sigma=decayed(s.sigma, self._sigma_decay, self._sigma_min),
            learning_rate=decayed(s.learning_rate, self._lr_decay, self._lr_min),
            optimizer=memory,
        )
