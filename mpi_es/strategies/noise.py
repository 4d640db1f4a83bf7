"""Perturbations identified by keys, so that parameters are never sent: any rank can sum any slice."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.errors import expected
from mpi_es.seeds import Stream, rng
from mpi_es.strategies.base import Seeded

# Numbers that one generator draws. Making a generator takes 12 us, drawing a block 95 us: smaller blocks
# would cost mostly generators, larger ones would be too few to share (a network of 10,000 parameters has
# two).
BLOCK = 2**13
_KEYS = 2**20  # keys reserved for a generation


class SlicedNoise(ABC):
    """A base.Noise of which any slice can be summed alone, bit-identical to the whole sum.

    `block` is the granularity at which slicing wastes no work; any slicing gives the same numbers.
    """

    block: int
    _chunk: int  # numbers summed at a time: their sum and product should fit the cache

    def __init__(self, seed: int, dim: int) -> None:
        self.seed = seed
        self.dim = dim

    @abstractmethod
    def keys(self, generation: int, count: int) -> NDArray[np.int64]:
        """Return the keys (count,) of a generation's perturbations."""

    @abstractmethod
    def read(self, key: int, start: int, stop: int) -> Candidate:
        """Return numbers start to stop of the perturbation of a key."""

    def row(self, key: int) -> Candidate:
        """Return the perturbation (dim,) of a key."""
        return self.read(key, 0, self.dim)

    def candidate(self, population: Seeded, index: int) -> Any:
        """Return a candidate as a policy takes it; the one after the last is the centre."""
        return population.centre if index == len(population) else population.candidate(index, self)

    def weighted_sum(self, keys: NDArray[np.int64], weights: Vector) -> Candidate:
        """Return the sum over i of weights[i] * row(keys[i]), (dim,), added in the order of i."""
        return self.partial_sum(keys, weights, 0, self.dim)

    def partial_sum(self, keys: NDArray[np.int64], weights: Vector, start: int, stop: int) -> Candidate:
        """Return weighted_sum(keys, weights)[start:stop], bit-identical, (stop - start,)."""
        total = np.zeros(stop - start, dtype=np.float32)
        product = np.empty_like(total, shape=min(self._chunk, stop - start))
        # A weight of 0 (candidates that tied) changes no sum, so its row is not needed.
        used = [(int(k), w) for k, w in zip(keys, weights.astype(np.float32), strict=True) if w != 0]
        for _, first, last in _pieces(start, stop, self._chunk):
            part, scaled = total[first - start : last - start], product[: last - first]
            # Not a matrix product: BLAS's order of additions depends on the shapes.
            for key, weight in used:
                np.multiply(self.read(key, first, last), weight, out=scaled)
                np.add(part, scaled, out=part)
        return total


class ComputedNoise(SlicedNoise):
    """Noise that is drawn whenever it is needed: it takes no memory, and no two keys share a number."""

    block = _chunk = BLOCK

    def __init__(self, seed: int, dim: int) -> None:
        super().__init__(seed, dim)
        self._last: tuple[int, Candidate] | None = None

    def row(self, key: int) -> Candidate:
        """Return the perturbation (dim,) of a key; the last one is cached for
        the mirrored candidate and for further episodes.
        """
        if self._last is None or self._last[0] != key:
            self._last = (key, super().row(key))
        return self._last[1]

    def keys(self, generation: int, count: int) -> NDArray[np.int64]:
        """Return keys (count,) that no other generation has."""
        if count > _KEYS:  # keys of two generations would overlap
            raise expected("--population-size", f"at most {2 * _KEYS}", 2 * count)
        return generation * _KEYS + np.arange(count)

    def read(self, key: int, start: int, stop: int) -> Candidate:
        """Return numbers start to stop of the perturbation of a key."""
        row = np.empty(stop - start, dtype=np.float32)
        for block, first, last in _pieces(start, stop, BLOCK):
            head = block * BLOCK  # a piece that begins within a block draws the numbers before it, too
            drawn = rng(self.seed, Stream.NOISE, key, block).standard_normal(last - head, dtype=np.float32)
            row[first - start : last - start] = drawn[first - head :]
        return row


def _pieces(start: int, stop: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Cut [start, stop) at multiples of `size`; yield (multiple, first, last)."""
    while start < stop:
        last = min((start // size + 1) * size, stop)
        yield start // size, start, last
        start = last
