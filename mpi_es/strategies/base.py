"""What a strategy is: ask for a population, tell its fitness, deploy the centre."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.errors import expected


class Noise(Protocol):
    """Standard normal perturbations, each named by an integer key and never stored."""

    dim: int

    def keys(self, generation: int, count: int) -> NDArray[np.int64]:
        """Return the keys (count,) of a generation's perturbations."""
        ...

    def row(self, key: int) -> Candidate:
        """Return the perturbation (dim,) of a key."""
        ...

    def weighted_sum(self, keys: NDArray[np.int64], weights: Vector) -> Candidate:
        """Return the sum over i of weights[i] * row(keys[i]), (dim,), added in the order of i.

        Collective where the noise is shared between ranks: rank 0 calls it, the others serve.
        """
        ...


@dataclass(frozen=True)
class Dense:
    """A population that is an array, rows (popsize, dim), and travels row by row.

    Args:
        centre: evaluated next to the population where the run asks for it; the loop fills it in.
    """

    rows: Vector
    centre: Vector | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def candidate(self, index: int, noise: Noise | None = None) -> Vector:
        """Return row `index`, (dim,); the one after the last is the centre."""
        row: Vector = self.rows[index] if index < len(self) or self.centre is None else self.centre
        return row


@dataclass(frozen=True)
class Seeded:
    """A population of mirrored pairs around a centre (dim,), given by the keys (pairs,) of its noise.

    Candidate 2i adds perturbation keys[i], candidate 2i+1 subtracts it. They have the centre's precision.
    """

    centre: Candidate | Vector
    sigma: float
    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return 2 * len(self.keys)

    def candidate(self, index: int, noise: Noise) -> Candidate | Vector:
        """Return candidate `index`, (dim,); the one after the last is the centre."""
        if index == len(self):
            return self.centre
        step = np.float32(self.sigma if index % 2 == 0 else -self.sigma)
        moved: Candidate | Vector = noise.row(int(self.keys[index // 2])) * step + self.centre
        return moved


Population = Dense | Seeded


def joined(populations: Sequence[Population]) -> Population:
    """Return populations of one kind, and of one centre, as one."""
    first = populations[0]
    if isinstance(first, Seeded):
        keys = [population.keys for population in populations if isinstance(population, Seeded)]
        return replace(first, keys=np.concatenate(keys))
    rows = [population.rows for population in populations if isinstance(population, Dense)]
    return replace(first, rows=np.concatenate(rows))


def row_sum(weights: Vector, rows: Vector) -> Vector:
    """Return the sum over i of weights[i] * rows[i], (dim,)."""
    # Not a matrix product: the order of BLAS's additions depends on its threads.
    return np.asarray((weights[:, np.newaxis] * rows).sum(axis=0))


def check_pairs(popsize: int) -> None:
    """Refuse a population that is not made of mirrored pairs."""
    if popsize < 2 or popsize % 2:
        raise expected("--population-size", "an even number of 2 or more", popsize, "candidates are pairs")


class Strategy(Protocol):
    """An evolution strategy. Fitness is maximised; state in, state out, nothing hidden between.

    `state` is one dataclass whose fields are arrays, numbers, strings or dicts of these. Assigning a
    state continues exactly from where it was read. It is read and assigned between tell and ask, and
    later calls do not change what was read.

    A strategy may also have `learning_rate`, a number for the history, and `description`, a line that is
    printed before the first generation. One that can have --num-interactions has `ask_more(batch)`, which
    returns popsize other candidates of the generation for batch 1, 2 …; all are then told together. Its
    constructor refuses a population size that it cannot have, with an error that begins with
    `--population-size: expected`.
    """

    state: Any

    @property
    def popsize(self) -> int:
        """The number of candidates that ask returns."""
        ...

    @property
    def centre(self) -> Vector:
        """The candidate (dim,) that is deployed and evaluated."""
        ...

    @property
    def sigma(self) -> float:
        """The overall step size, for the log."""
        ...

    def ask(self) -> Population:
        """Return the population of the next generation."""
        ...

    def tell(self, population: Population, fitness: Vector) -> None:
        """Move on by one generation, given the fitness (popsize,) of what ask returned."""
        ...
