"""Low-rank perturbations (EGGROLL, arXiv:2511.16652): two thin factors are drawn for each matrix.

The perturbation of a matrix (a, b) is A B^T / sqrt(rank) with A (a, rank) and B (b, rank) standard normal.
Vectors, such as biases, get independent noise.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.strategies.base import Seeded
from mpi_es.strategies.noise import SlicedNoise


class Factored(NamedTuple):
    """A candidate as the shared centre, and its own numbers in the order of a Layout."""

    centre: Candidate  # (dim,)
    numbers: Candidate  # (size,); A and the vectors' noise already include the step


@dataclass(frozen=True)
class Part:
    """A parameter: its offset among all parameters, and the offset of its numbers among those drawn."""

    start: int
    drawn: int
    rows: int
    columns: int  # of a matrix; 0 for a vector
    rank: int

    @property
    def stop(self) -> int:
        """Where the parameter ends."""
        return self.start + self.rows * (self.columns or 1)

    @property
    def moved(self) -> slice:
        """The numbers that a step multiplies: A, or a vector's noise."""
        return slice(self.drawn, self.drawn + self.rows * (self.rank if self.columns else 1))

    @property
    def right(self) -> slice:
        """The numbers of B."""
        return slice(self.moved.stop, self.moved.stop + self.columns * self.rank)


class Layout:
    """The order of a candidate's factors: for each matrix A^T (rank, a), then B^T (rank, b).

    The kernels of a convolution are the matrix (outputs, inputs * height * width).

    Args:
        shapes: of the parameters, in order.
    """

    def __init__(self, shapes: Iterable[tuple[int, ...]], rank: int) -> None:
        self.rank, self.dim, self.size = rank, 0, 0
        self.parts: list[Part] = []
        for shape in shapes:
            matrix = len(shape) > 1 and 0 not in shape
            rows, columns = (shape[0], prod(shape[1:])) if matrix else (prod(shape), 0)
            part = Part(self.dim, self.size, rows, columns, rank)
            self.parts.append(part)
            self.dim, self.size = part.stop, part.right.stop

    def centre(self, centre: Candidate) -> Factored:
        """Return a centre (dim,) as a candidate with zero factors."""
        return Factored(centre, np.zeros(self.size, np.float32))

    def stepped(self, numbers: Candidate, step: float) -> Candidate:
        """Return drawn numbers (size,) with A and the vectors multiplied by the step,
        A also by 1 / sqrt(rank).
        """
        stepped = numbers.copy()
        for part in self.parts:
            stepped[part.moved] *= np.float32(step / np.sqrt(self.rank) if part.columns else step)
        return stepped


class LowRankNoise(SlicedNoise):
    """Low-rank perturbations, made from numbers of another noise: some thousands for a million parameters.

    Args:
        drawn: the noise of layout.size numbers.
        keeps_factors: whether candidates are Factored, for policies that take these.
    """

    block = 1
    # Each chunk draws its numbers again, which takes as long as 2**17 products. Larger chunks do not fit the
    # cache.
    _chunk = 2**18

    def __init__(self, drawn: SlicedNoise, layout: Layout, *, keeps_factors: bool = False) -> None:
        super().__init__(drawn.seed, layout.dim)
        self._drawn, self.layout, self._keeps_factors = drawn, layout, keeps_factors

    def keys(self, generation: int, count: int) -> NDArray[np.int64]:
        """Return the keys (count,) of a generation's perturbations."""
        return self._drawn.keys(generation, count)

    def candidate(self, population: Seeded, index: int) -> Any:
        """Return a candidate as a policy takes it; the one after the last is the centre."""
        if not self._keeps_factors:
            return super().candidate(population, index)
        centre = population.centre.astype(np.float32, copy=False)
        if index == len(population):
            return self.layout.centre(centre)
        drawn = self._drawn.row(int(population.keys[index // 2]))
        return Factored(centre, self.layout.stepped(drawn, population.step(index)))

    def read(self, key: int, start: int, stop: int) -> Candidate:
        """Return numbers start to stop of the perturbation of a key."""
        out = np.empty(stop - start, np.float32)
        parts = [part for part in self.layout.parts if part.start < stop and start < part.stop]
        offset = parts[0].drawn
        numbers = self._drawn.read(key, offset, parts[-1].right.stop)
        for part in parts:
            left, right = (
                numbers[own.start - offset : own.stop - offset] for own in (part.moved, part.right)
            )
            first, last = max(start, part.start), min(stop, part.stop)
            a, b = first - part.start, last - part.start  # within the parameter
            out[first - start : last - start] = (
                _product(part, left, right, a, b) if part.columns else left[a:b]
            )
        return out


def _product(part: Part, left: Candidate, right: Candidate, start: int, stop: int) -> Candidate:
    """Return numbers start to stop of A B^T / sqrt(rank), summed over the rank in order."""
    first, last = start // part.columns, -(-stop // part.columns)
    lefts = left.reshape(part.rank, -1)[:, first:last] * np.float32(1 / np.sqrt(part.rank))
    first_right, *rights = right.reshape(part.rank, -1)
    total: Candidate = np.multiply.outer(lefts[0], first_right)
    for one, other in zip(lefts[1:], rights, strict=True):
        total += np.multiply.outer(one, other)
    return total.reshape(-1)[start - first * part.columns : stop - first * part.columns]
