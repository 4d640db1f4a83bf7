"""A seeded strategy's noise, whose sums all ranks compute together."""

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.parallel.collectives import gather_rows, offsets
from mpi_es.parallel.command_loop import CommandLoop
from mpi_es.strategies.noise import SlicedNoise

_SUM = "sum"


class SharedNoise:
    """A strategies.base.Noise for rank 0: it sums while the other ranks serve.

    Args:
        noise: this rank's.
    """

    def __init__(self, loop: CommandLoop, noise: SlicedNoise) -> None:
        self.loop, self.noise = loop, noise
        self.dim: int = noise.dim
        loop.handlers[_SUM] = lambda payload: self._sum_slice(*payload)

    def keys(self, generation: int, count: int) -> NDArray[np.int64]:
        """Return the keys (count,) of a generation's perturbations."""
        return self.noise.keys(generation, count)

    def row(self, key: int) -> Candidate:
        """Return the perturbation (dim,) of a key."""
        return self.noise.row(key)

    def weighted_sum(self, keys: NDArray[np.int64], weights: Vector) -> Candidate:
        """Return the sum over i of weights[i] * row(keys[i]), (dim,)."""

        def attempt() -> Candidate:
            self.loop.send(_SUM, (keys, weights))
            total = self._sum_slice(keys, weights)
            assert total is not None, "this is rank 0"
            return total.reshape(-1)

        return self.loop.retry_without_lost_ranks(attempt)

    def _sum_slice(self, keys: NDArray[np.int64], weights: Vector) -> NDArray[np.float32] | None:
        """Sum this rank's slice of the parameters; return on rank 0 the slices of all ranks. Collective.

        Every element is a sum in the order of the candidates, so the number of ranks cannot change it.
        """
        comm = self.loop.comm
        starts = offsets(self.dim, comm.size, 0, self.noise.block)
        part = self.noise.partial_sum(keys, weights, starts[comm.rank], starts[comm.rank + 1])
        counts = np.diff(starts).tolist() if comm.rank == 0 else None
        return gather_rows(comm, part.reshape(-1, 1), counts)
