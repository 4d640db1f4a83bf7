"""The interface of strategies: ask for a population, tell its fitness, deploy the centre."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.config.fields import ENVIRONMENT, Alias, Count, Natural, Needs, Of, Positive
from mpi_es.config.parts import Named
from mpi_es.errors import expected

SMALLEST_SIGMA = 1e-100  # with equal rows sigma would fall to zero, and steps would be zero over zero


class Noise(Protocol):
    """Standard normal perturbations, each identified by an integer key and never stored."""

    dim: int

    def keys(self, generation: int, count: int) -> NDArray[np.int64]:
        """Return the keys (count,) of a generation's perturbations."""
        ...

    def row(self, key: int) -> Candidate:
        """Return the perturbation (dim,) of a key."""
        ...

    def weighted_sum(self, keys: NDArray[np.int64], weights: Vector) -> Candidate:
        """Return the sum over i of weights[i] * row(keys[i]), (dim,), added in the order of i.

        Collective if ranks share the noise: rank 0 calls it, the others serve.
        """
        ...


@dataclass(frozen=True)
class Dense:
    """A population given as an array, rows (popsize, dim), which are sent to ranks."""

    rows: Vector

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def deviation(self) -> float:
        """The standard deviation of the parameter that varies most among the candidates."""
        return float(self.rows.std(axis=0).max())

    def candidate(self, index: int, noise: Noise | None = None) -> Vector:
        """Return row `index`, (dim,)."""
        row: Vector = self.rows[index]
        return row


@dataclass(frozen=True)
class Seeded:
    """A population of mirrored pairs around a centre (dim,), given by the keys (pairs,) of its noise.

    Candidate 2i adds perturbation keys[i], candidate 2i + 1 subtracts it. They have the centre's precision.
    """

    centre: Candidate | Vector
    sigma: float
    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return 2 * len(self.keys)

    @property
    def deviation(self) -> float:
        """The standard deviation of every parameter among the candidates."""
        return self.sigma

    def candidate(self, index: int, noise: Noise) -> Candidate | Vector:
        """Return candidate `index`, (dim,)."""
        step = np.float32(self.step(index))
        moved: Candidate | Vector = noise.row(int(self.keys[index // 2])) * step + self.centre
        return moved

    def step(self, index: int) -> float:
        """Return the factor on the perturbation of candidate `index`."""
        return self.sigma if index % 2 == 0 else -self.sigma


Population = Dense | Seeded


@dataclass(frozen=True)
class WithCentre:
    """A population and one more candidate, its centre (dim,), which is evaluated with it."""

    population: Population
    centre: Candidate | Vector

    def __len__(self) -> int:
        return len(self.population) + 1

    def candidate(self, index: int, noise: Noise) -> Candidate | Vector:
        """Return candidate `index`, (dim,)."""
        return self.centre if index == len(self.population) else self.population.candidate(index, noise)


def alone(centre: Candidate | Vector) -> WithCentre:
    """Return a population whose only candidate is this centre (dim,), sent once to each rank."""
    return WithCentre(Seeded(centre, 0.0, np.zeros(0, np.int64)), centre)


def joined(populations: Sequence[Population]) -> Population:
    """Concatenate populations of one kind and one centre."""
    first = populations[0]
    if isinstance(first, Seeded):
        keys = [population.keys for population in populations if isinstance(population, Seeded)]
        return replace(first, keys=np.concatenate(keys))
    rows = [population.rows for population in populations if isinstance(population, Dense)]
    return replace(first, rows=np.concatenate(rows))


def row_sum(weights: Vector, rows: Vector) -> Vector:
    """Return the sum over i of weights[i] * rows[i], (dim,)."""
    # Not a matrix product: BLAS adds in an order that depends on its threads.
    return np.asarray((weights[:, np.newaxis] * rows).sum(axis=0))


def norm(vector: NDArray[np.floating[Any]]) -> float:
    """Return the Euclidean norm."""
    # Not linalg.norm: BLAS adds in an order that depends on its threads.
    return float(np.sqrt(np.square(vector, dtype=np.float64).sum()))


def check_pairs(popsize: int, least: int = 2) -> None:
    """Refuse a population that is not made of mirrored pairs, or has fewer candidates than `least`."""
    if popsize < least or popsize % 2:
        rule = f"an even number of {least} or more"
        raise expected("--population-size", rule, popsize, "candidates are pairs")


@dataclass(frozen=True)
class Options(Named):
    """The options that every strategy has."""

    population_size: Annotated[Count, Alias("--n", "--popsize")] = 32
    """Number of candidates in a generation"""
    init_sigma: Annotated[Positive, Alias("--sigma")] = 0.1
    """Standard deviation of the first population"""

    def of_later_start(self, dim: int, sigma: float, popsize: int) -> Self:
        """Return the options of a restart: all that a run chooses for itself stays as in the first start."""
        return replace(self, init_sigma=sigma, population_size=popsize)


@dataclass(frozen=True)
class Growing(Options):
    """Options of strategies whose population can grow within a generation."""

    num_interactions: Annotated[Natural, ENVIRONMENT] = 0
    """Add --population-size candidates until a generation has this number of environment steps; 0: never"""
    popsize_max: Annotated[Natural, Needs("num_interactions")] = 0
    """Largest population with --num-interactions; 0: no limit"""

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        super().__post_init__()
        if self.num_interactions and 0 < self.popsize_max < self.population_size:
            rule = f"0, or at least --population-size {self.population_size}"
            raise expected("--popsize-max", rule, self.popsize_max)


@dataclass(frozen=True)
class WithNoise(Options):
    """Options of strategies with seeded populations."""

    noise: Annotated[Literal["full", "low-rank"], ENVIRONMENT] = "full"
    """Independent noise for each parameter, or for each matrix a product of two thin random matrices"""
    noise_rank: Annotated[Count, ENVIRONMENT, Of("noise", "low-rank")] = 1
    """Rank of the perturbation of a matrix"""


@dataclass(frozen=True)
class StrategyOptions(WithNoise, Growing):
    """Base of the options of your own strategy: those of every strategy, noise and growing populations."""


class Strategy(ABC):
    """An evolution strategy. Fitness is maximised; state in, state out, nothing hidden between.

    `state` is one dataclass whose fields are arrays, numbers, strings or dicts of these. Assigning a
    state continues exactly from where it was read. It is read and assigned between tell and ask, and
    later calls do not change a state that was read. If it has `centre` and `sigma`, the properties below
    follow.

    A strategy may also have `description`, a line that is printed before the first generation. To support
    --num-interactions it has `ask_more(batch)`, which returns popsize further candidates of the generation
    for batch 1, 2 …; all are then told together. Its constructor refuses a population size that it does not
    support.

    Args:
        options: an object of the class's own Options.
        x0: (dim,), where the search begins.
        seed: of all its random numbers.
        noise: of seeded populations; collective if ranks share the work.
    """

    Options: ClassVar[type[Options]] = Options
    mirrored: ClassVar[bool] = False  # candidates 2i and 2i + 1 are pairs, which may share episode seeds
    step_option: ClassVar[str] = "--init-sigma"  # the option to lower if the centre diverges
    state: Any

    def __init__(self, options: Any, x0: Vector, seed: int, noise: Noise) -> None:
        self.options, self.seed, self.noise = options, seed, noise

    @property
    def popsize(self) -> int:
        """The number of candidates that ask returns."""
        size: int = self.options.population_size
        return size

    @property
    def centre(self) -> Vector:
        """The candidate (dim,) that is deployed and evaluated."""
        centre: Vector = self.state.centre
        return centre

    @property
    def sigma(self) -> float:
        """The standard deviation of the candidates, for the log: the geometric mean of the parameters'."""
        sigma = self.state.sigma
        return float(np.exp(np.log(sigma).mean())) if np.ndim(sigma) else float(sigma)

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next generation, for the log; NaN if there is none."""
        return float(getattr(self.state, "learning_rate", math.nan))

    @abstractmethod
    def ask(self) -> Population:
        """Return the population of the next generation."""

    @abstractmethod
    def tell(self, population: Population, fitness: Vector) -> None:
        """Update the state by one generation, given the fitness (popsize,) of the population of ask."""
