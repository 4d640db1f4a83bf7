"""Between the loop and MPI: collectives over arrays and objects, and a communicator of one rank."""

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.parallel.rank_loss import END, shrink, survivable
from mpi_es.parallel.waiting import wait

Comm = Any  # an mpi4py communicator or a SerialComm


def bcast(comm: Comm, array: NDArray[Any]) -> None:
    """Copy rank 0's array into that of every rank, of the same shape and type. Collective."""
    wait(comm.Ibcast(array, root=0))


def scatter_rows(comm: Comm, rows: NDArray[Any] | None, offsets: Sequence[int], like: NDArray[Any]) -> None:
    """Fill `like` (n, width) with this rank's rows of rank 0's array. Collective.

    Args:
        offsets: rank r gets rows offsets[r] to offsets[r + 1].
    """
    send = None
    if rows is not None:
        starts = np.asarray(offsets) * (rows[0].size if len(rows) else 0)
        send = [rows, (np.diff(starts), starts[:-1])]
    wait(comm.Iscatterv(send, like, root=0))


def gather_rows(comm: Comm, rows: NDArray[Any], counts: Sequence[int] | None = None) -> NDArray[Any] | None:
    """Return on rank 0 the rows of all ranks, in the order of ranks; None elsewhere. Collective.

    Args:
        counts: the number of rows of each rank, on rank 0; None: as many as rank 0 has.
    """
    if comm.rank != 0:
        wait(comm.Igatherv(rows, None, root=0))
        return None
    counts = [len(rows)] * comm.size if counts is None else counts
    width = int(np.prod(rows.shape[1:]))
    sizes = np.asarray(counts) * width
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    gathered = np.empty((int(np.sum(counts)), *rows.shape[1:]), rows.dtype)
    wait(comm.Igatherv(rows, [gathered, (sizes, starts)], root=0))
    return gathered


def share_rows(comm: Comm, rows: NDArray[Any], counts: Sequence[int]) -> NDArray[Any]:
    """Return on every rank the rows of all ranks, in the order of ranks. Collective.

    Args:
        counts: the number of rows of each rank.
    """
    gathered = gather_rows(comm, np.ascontiguousarray(rows), counts)
    if gathered is None:
        gathered = np.empty((int(np.sum(counts)), *rows.shape[1:]), rows.dtype)
    bcast(comm, gathered)
    return gathered


def offsets(count: int, ranks: int, first: int = 0, block: int = 1) -> list[int]:
    """Return where each rank's share of `count` items begins, and the end: ranks + 1 numbers.

    Args:
        first: ranks below it get nothing.
        block: shares begin at multiples of this.
    """
    blocks = -(-count // block)
    workers = ranks - first
    shares = [blocks * worker // workers for worker in range(workers + 1)]
    return [0] * first + [min(share * block, count) for share in shares]


class _Done:
    """A request that is complete."""

    def Test(self) -> bool:  # noqa: N802  (mpi4py's name)
        return True


class SerialComm:
    """A communicator of one rank, with the few methods of mpi4py that this package uses."""

    rank = 0
    size = 1

    def Ibcast(self, array: Any, root: int = 0) -> _Done:  # noqa: N802
        """Do nothing: the only rank has it."""
        return _Done()

    def Iscatterv(self, send: Any, receive: NDArray[Any], root: int = 0) -> _Done:  # noqa: N802
        """Copy everything to rank 0."""
        receive[...] = np.asarray(send[0]).reshape(receive.shape)
        return _Done()

    def Igatherv(self, rows: NDArray[Any], receive: Any, root: int = 0) -> _Done:  # noqa: N802
        """Copy rank 0's rows."""
        receive[0][...] = rows
        return _Done()

    def Abort(self, code: int) -> None:  # noqa: N802
        """Do nothing: there are no other ranks, and the caller ends this process."""


def bcast_object(comm: Comm, item: Any) -> Any:
    """Return rank 0's object on every rank; ranks that wait for it leave their cores idle. Collective."""
    text = np.frombuffer(bytearray(pickle.dumps(item) if comm.rank == 0 else b""), np.uint8)
    size = np.array([len(text)])
    bcast(comm, size)
    text = text if comm.rank == 0 else np.empty(size[0], np.uint8)
    bcast(comm, text)
    return item if comm.rank == 0 else pickle.loads(text.data)


def gather_objects(comm: Comm, item: Any) -> list[Any] | None:
    """Return on rank 0 the objects of all ranks; None elsewhere. Collective."""
    text = np.frombuffer(pickle.dumps(item), np.uint8)
    sizes = gather_rows(comm, np.array([len(text)]))
    texts = gather_rows(comm, text, sizes.tolist() if sizes is not None else None)
    if sizes is None or texts is None:
        return None
    return [pickle.loads(part.data) for part in np.split(texts, np.cumsum(sizes)[:-1])]


def of_this_node(comm: Comm) -> Comm:
    """Return a communicator of the ranks on this rank's node. Collective."""
    if comm.size == 1:
        return comm
    from mpi4py import MPI  # there are other ranks, so this runs under MPI

    return split(comm, lambda: comm.Split_type(MPI.COMM_TYPE_SHARED))


def free(comm: Comm, whole: Comm) -> None:
    """Free a communicator unless it is the whole one: MPI has only some two thousand. Collective."""
    if comm is not whole:
        comm.Free()


def split(comm: Comm, divide: Callable[[], Comm]) -> Comm:
    """Return this rank's part of a communicator. Collective."""
    wait(comm.Ibarrier())  # the split itself would poll at full speed until the last rank arrives
    part = divide()
    if survivable():
        shrink(comm, END)  # if a rank was lost, no rank may wait for it in a part
    return part
