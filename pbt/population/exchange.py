"""Move members' states between ranks, as flat buffers: collectively or point to point, with one outcome."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from mpi_es.parallel.collectives import Comm, share_rows
from mpi_es.parallel.waiting import wait
from pbt.packing import Buffer

Buffers = dict[int, Buffer]  # by member
Move = tuple[int, int]  # of a member's buffer, to a rank


def exchange(
    comm: Comm, buffers: Mapping[int, Buffer], source: Sequence[int], owners: Sequence[int], mode: str
) -> Buffers:
    """Return the buffers that this rank's copying members copy, by the member they come from. Collective.

    Args:
        buffers: of this rank's members, those that are copied at least.
        source: member i copies from source[i].
        owners: the rank that holds each member.
        mode: collective, point-to-point or auto.
    """
    copies = [(int(origin), owners[member]) for member, origin in enumerate(source) if origin != member]
    moves = sorted(set(copies))  # a rank gets a buffer once, however many of its members copy it
    far = [(member, rank) for member, rank in moves if owners[member] != rank]
    got = {member: buffers[member] for member, rank in moves if owners[member] == rank == comm.rank}
    if not far:
        return got
    sizes = share_sizes(comm, buffers, [member for member, _ in far], owners)
    by_broadcast = mode == "collective" or (mode == "auto" and broadcasts(far))
    received = (_broadcast if by_broadcast else send)(comm, buffers, far, owners, sizes)
    return got | received


def broadcasts(far: Sequence[Move]) -> bool:
    """Tell whether to broadcast: where one state goes to more ranks than were measured."""
    copies = Counter(member for member, _ in far)
    return max(copies.values()) > _MEASURED


# Up to this many ranks on one host, and from 10 kB to 50 MB, point to point took 0.03 to 1.1 of the time of
# broadcasts, mostly less than half (benchmarks/pbt_exchange.py). A state that goes to more leaves its sender
# so many times, one after the other; a broadcast takes log2(ranks) rounds.
_MEASURED = 32


def share_sizes(
    comm: Comm, buffers: Mapping[int, Buffer], members: Sequence[int], owners: Sequence[int]
) -> dict[int, int]:
    """Return the size in bytes of each of these members' buffers. Collective."""
    wanted = sorted(set(members), key=lambda member: (owners[member], member))
    mine = [[buffers[member].size] for member in wanted if owners[member] == comm.rank]
    counts = np.bincount([owners[member] for member in wanted], minlength=comm.size)
    rows = share_rows(comm, np.array(mine, np.int64).reshape(-1, 1), counts.tolist())
    return dict(zip(wanted, rows[:, 0].tolist(), strict=True))


def _broadcast(
    comm: Comm,
    buffers: Mapping[int, Buffer],
    moves: Sequence[Move],
    owners: Sequence[int],
    sizes: Mapping[int, int],
) -> Buffers:
    """Broadcast each buffer that is to move. Collective."""
    got = {}
    for member in sorted({member for member, _ in moves}):
        here = owners[member] == comm.rank
        buffer = buffers[member] if here else np.empty(sizes[member], np.uint8)
        wait(comm.Ibcast(buffer, root=owners[member]))
        if (member, comm.rank) in moves:
            got[member] = buffer
    return got


def send(
    comm: Comm,
    buffers: Mapping[int, Buffer],
    moves: Sequence[Move],
    owners: Sequence[int],
    sizes: Mapping[int, int],
) -> Buffers:
    """Send each buffer to each rank that it is to move to; those of other ranks are not concerned."""
    requests, got = [], {}
    for member, rank in moves:
        if rank == comm.rank:
            got[member] = np.empty(sizes[member], np.uint8)
            requests.append(comm.Irecv(got[member], source=owners[member], tag=member))
    for member, rank in moves:
        if owners[member] == comm.rank:
            requests.append(comm.Isend(buffers[member], dest=rank, tag=member))
    for request in requests:
        wait(request)
    return got


def collect(
    comm: Comm, buffers: Mapping[int, Buffer], members: Sequence[int], owners: Sequence[int]
) -> Buffers:
    """Return on rank 0 the buffers of these members, nothing elsewhere. Collective."""
    near = {member: buffers[member] for member in members if owners[member] == comm.rank == 0}
    far = [(member, 0) for member in members if owners[member] != 0]
    if not far:
        return near
    sizes = share_sizes(comm, buffers, [member for member, _ in far], owners)
    return near | send(comm, buffers, far, owners, sizes)


def distribute(comm: Comm, buffers: Mapping[int, Buffer], owners: Sequence[int]) -> Buffers:
    """Return to each rank the buffers of its members, all of which rank 0 has. Collective."""
    near = {member: buffers[member] for member, rank in enumerate(owners) if rank == comm.rank == 0}
    far = [(member, rank) for member, rank in enumerate(owners) if rank != 0]
    if not far:
        return near
    at_root = [0] * len(owners)
    sizes = share_sizes(comm, buffers, [member for member, _ in far], at_root)
    return near | send(comm, buffers, far, at_root, sizes)
