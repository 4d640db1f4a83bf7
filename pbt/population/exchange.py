"""Send members' states between ranks as flat buffers."""

from collections.abc import Mapping, Sequence

import numpy as np

from mpi_es.parallel.collectives import Comm, share_rows
from mpi_es.parallel.waiting import wait
from pbt.packing import Buffer

Buffers = dict[int, Buffer]  # by member
Move = tuple[int, int]  # a member, and the rank that gets its buffer


def exchange(
    comm: Comm, buffers: Mapping[int, Buffer], source: Sequence[int], owners: Sequence[int]
) -> Buffers:
    """Return the buffers that this rank's members copy, by source member. Collective.

    Args:
        buffers: of this rank's members that are copied, or of all.
        source: member i copies from source[i].
        owners: the rank that holds each member.
    """
    copies = [(int(origin), owners[member]) for member, origin in enumerate(source) if origin != member]
    # A rank receives a buffer once, even if several of its members copy it.
    return deliver(comm, buffers, sorted(set(copies)), owners)


def collect(
    comm: Comm, buffers: Mapping[int, Buffer], members: Sequence[int], owners: Sequence[int]
) -> Buffers:
    """Return on rank 0 the buffers of these members, nothing elsewhere. Collective."""
    return deliver(comm, buffers, [(member, 0) for member in members], owners)


def distribute(comm: Comm, buffers: Mapping[int, Buffer], owners: Sequence[int]) -> Buffers:
    """Return on each rank the buffers of its members; rank 0 has all buffers. Collective."""
    return deliver(comm, buffers, list(enumerate(owners)), [0] * len(owners))


def deliver(
    comm: Comm, buffers: Mapping[int, Buffer], moves: Sequence[Move], owners: Sequence[int]
) -> Buffers:
    """Return the buffers that are for this rank. Collective.

    Args:
        moves: of all ranks, each once.
        owners: the rank that has each member's buffer.
    """
    local = {member: buffers[member] for member, rank in moves if owners[member] == rank == comm.rank}
    remote = [(member, rank) for member, rank in moves if owners[member] != rank]
    if not remote:
        return local
    sizes = share_sizes(comm, buffers, [member for member, _ in remote], owners)
    return local | send(comm, buffers, remote, owners, sizes)


def share_sizes(
    comm: Comm, buffers: Mapping[int, Buffer], members: Sequence[int], owners: Sequence[int]
) -> dict[int, int]:
    """Return the size in bytes of each of these members' buffers. Collective."""
    wanted = sorted(set(members), key=lambda member: (owners[member], member))
    mine = [[buffers[member].size] for member in wanted if owners[member] == comm.rank]
    counts = np.bincount([owners[member] for member in wanted], minlength=comm.size)
    rows = share_rows(comm, np.array(mine, np.int64).reshape(-1, 1), counts.tolist())
    return dict(zip(wanted, rows[:, 0].tolist(), strict=True))


def send(
    comm: Comm,
    buffers: Mapping[int, Buffer],
    moves: Sequence[Move],
    owners: Sequence[int],
    sizes: Mapping[int, int],
) -> Buffers:
    """Send each buffer to its ranks; return those for this rank. Only ranks in `moves` need to call it."""
    requests, received = [], {}
    for member, rank in moves:
        if rank == comm.rank:
            received[member] = np.empty(sizes[member], np.uint8)
            requests.append(comm.Irecv(received[member], source=owners[member], tag=member))
    for member, rank in moves:
        if owners[member] == comm.rank:
            requests.append(comm.Isend(buffers[member], dest=rank, tag=member))
    for request in requests:
        wait(request)
    return received
