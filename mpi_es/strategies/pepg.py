"""PEPG, or PGPE, with symmetric sampling (Sehnke et al. 2010, Neural Networks 23(4), 551-559).

As in estool and EvoTorch: the centre is moved by an optimizer, and each parameter has its own deviation.
"""

from dataclasses import dataclass

import numpy as np

from mpi_es import seeds
from mpi_es.arrays import Vector
from mpi_es.errors import expected
from mpi_es.seeds import Stream
from mpi_es.strategies.base import Dense, Population, check_pairs, row_sum
from mpi_es.strategies.optimizers import Memory, Optimizer, decayed
from mpi_es.strategies.shaping import Shaping, standardized


@dataclass(frozen=True)
class PEPGState:
    """What a run of PEPG knows after a generation; its arrays are replaced, never written to."""

    generation: int
    centre: Vector
    sigma: Vector
    learning_rate: float
    optimizer: Memory


class PEPG:
    """A base.Strategy with a standard deviation for each parameter, which follows its own gradient."""

    def __init__(
        self,
        x0: Vector,
        sigma: float,
        popsize: int,
        seed: int,
        shaping: Shaping,
        optimizer: Optimizer,
        *,
        learning_rate: float,
        lr_decay: float = 1.0,
        lr_min: float = 0.0,
        sigma_min: float = 0.0,
        sigma_learning_rate: float = 0.1,
        sigma_max_change: float = 0.2,
        weight_decay: float = 0.0,
    ) -> None:
        check_pairs(popsize)
        if not 0 <= sigma_max_change < 1:
            raise expected("--sigma-max-change", "a number in [0, 1)", sigma_max_change)
        self._popsize, self._seed = popsize, seed
        self._shaping, self._optimizer = shaping, optimizer
        self._lr_decay, self._lr_min = lr_decay, lr_min
        self._sigma_min, self._sigma_learning_rate = sigma_min, sigma_learning_rate
        self._sigma_max_change, self._weight_decay = sigma_max_change, weight_decay
        self.state = PEPGState(
            generation=0,
            centre=x0.astype(np.float64),
            sigma=np.full(len(x0), float(sigma)),
            learning_rate=float(learning_rate),
            optimizer=optimizer.start(len(x0)),
        )

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
        """The learning rate of the next generation."""
        return self.state.learning_rate

    def ask(self) -> Population:
        """Return centre + epsilon and centre - epsilon in turn."""
        return self.ask_more(0)

    def ask_more(self, batch: int) -> Population:
        """Return another population of the generation."""
        s = self.state
        rng = seeds.rng(self._seed, Stream.SAMPLE, s.generation, batch)
        epsilon = s.sigma * rng.standard_normal((self._popsize // 2, len(s.centre)))
        rows = np.empty((self._popsize, len(s.centre)))
        rows[0::2], rows[1::2] = s.centre + epsilon, s.centre - epsilon
        return Dense(rows)

    def tell(self, population: Population, fitness: Vector) -> None:
        """Climb the gradient of the expected utility, in the centre and in the deviations."""
        assert isinstance(population, Dense)
        s = self.state
        utilities = self._shaping(fitness)
        epsilon = (population.rows[0::2] - population.rows[1::2]) / 2  # (pairs, dim)
        step, memory = self._optimizer.step(
            s.optimizer, self._centre_gradient(epsilon, utilities), s.learning_rate
        )
        change = self._sigma_learning_rate * self._sigma_gradient(epsilon, utilities)
        most = self._sigma_max_change * s.sigma
        self.state = PEPGState(
            generation=s.generation + 1,
            centre=s.centre + step,
            sigma=np.maximum(s.sigma + np.clip(change, -most, most), self._sigma_min),
            learning_rate=decayed(s.learning_rate, self._lr_decay, self._lr_min),
            optimizer=memory,
        )

    def _centre_gradient(self, epsilon: Vector, utilities: Vector) -> Vector:
        """Return the mean over pairs of epsilon (r+ - r-) / 2, (dim,), less the weight decay.

        It is sigma^2 times the gradient. The decay is counted as in openai_es, where epsilon is over sigma.
        """
        half_difference = (utilities[0::2] - utilities[1::2]) / 2
        decay = self._weight_decay * self.state.sigma * self.state.centre
        return row_sum(half_difference, epsilon) / len(epsilon) - decay

    def _sigma_gradient(self, epsilon: Vector, utilities: Vector) -> Vector:
        """Return the mean over pairs of ((r+ + r-) / 2 - b) (epsilon^2 - sigma^2) / sigma, (dim,).

        The baseline b is the mean utility. Whatever the shaping, utilities are brought to the deviation of
        centred ranks here, so that a learning rate means what it means in EvoTorch, and half of estool's.
        """
        n = len(utilities)
        scores = standardized(utilities) * np.sqrt((n + 1) / (12 * (n - 1)))
        sigma = self.state.sigma
        means = (scores[0::2] + scores[1::2]) / 2
        return row_sum(means, (np.square(epsilon) - np.square(sigma)) / sigma) / len(epsilon)
