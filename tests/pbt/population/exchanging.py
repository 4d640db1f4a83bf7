"""Run under mpiexec: exchange buffers of uneven sizes and see that all arrive as they left."""

import numpy as np

from mpi_es.parallel.collectives import offsets
from mpi_es.parallel.entry_point import launch
from pbt.population.exchange import collect, distribute, exchange

SOURCES = {
    3: [[0, 1, 2], [2, 2, 2], [1, 1, 0]],
    7: [[0] * 7, [6, 1, 2, 3, 4, 5, 0], [1, 1, 1, 3, 3, 3, 5], [3, 3, 3, 3, 6, 6, 6]],
}


def made(member):
    """Return the buffer of a member: its own size, down to nothing, and its own bytes."""
    return np.random.default_rng(member).integers(0, 256, 1000 * member, dtype=np.uint8)


def main(comm, arguments):
    for members, cases in SOURCES.items():
        starts = offsets(members, comm.size)
        owners = [rank for rank in range(comm.size) for _ in range(starts[rank], starts[rank + 1])]
        mine = [member for member in range(members) if owners[member] == comm.rank]
        buffers = {member: made(member) for member in mine}
        for source in cases:
            got = exchange(comm, buffers, source, owners)
            wanted = {source[member] for member in mine if source[member] != member}
            assert got.keys() == wanted, (comm.rank, source, got.keys())
            assert all((got[member] == made(member)).all() for member in wanted)
        everybody = collect(comm, buffers, range(members), owners)
        assert sorted(everybody) == (list(range(members)) if comm.rank == 0 else [])
        back = distribute(comm, everybody, owners)
        assert sorted(back) == mine
        assert all((back[member] == made(member)).all() for member in mine)
    if comm.rank == 0:
        print("all arrived")
    return 0


if __name__ == "__main__":
    launch(main)
