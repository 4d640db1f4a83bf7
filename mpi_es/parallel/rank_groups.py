"""Groups of ranks that do a piece of work together: the first rank of a group leads, the others help it."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from mpi_es.errors import RolloutError, UserError, expected, one_line, warn
from mpi_es.parallel.collectives import Comm, SerialComm, bcast_object, gather_objects, share_rows, split
from mpi_es.parallel.rank_loss import RankLost, losses, survivable
from mpi_es.parallel.start_mpi import MPI_REMEDY, connect
from mpi_es.parallel.waiting import saying_after, wait
from mpi_es.text import counted

_PATIENCE = 10.0  # seconds after which a failed rank warns that it waits for the others


class Failure(NamedTuple):
    """Why a piece of work failed."""

    text: str  # one line
    frames: str = ""  # of the traceback


class Work(NamedTuple):
    """What a leader tells its helpers."""

    name: str
    arguments: Any


# Does this rank's part of the work, with a communicator of the group; returns the value and the failure.
Attempt = Callable[[Comm, Work], tuple[Any, Failure | None]]


class Group:
    """A group of ranks that work together, as one of them sees it."""

    def __init__(self, comm: Comm) -> None:
        self.comm, self.of_work = comm, _copied(comm)

    def lead(self, work: Work, attempt: Attempt) -> tuple[Any, Failure | None]:
        """Return the leader's value, and the failure if the work failed on any rank."""
        with losses(self.comm):
            bcast_object(self.comm, work)
            return self._together(work, attempt)

    def help(self, attempt: Attempt, note: Callable[[str], object]) -> float:
        """Take part in the work until the leader dismisses this rank; return the seconds it waited for work.

        Args:
            note: called with the name of the work when it begins, and with "" when it is done.
        """
        waited = 0.0
        with losses(self.comm):
            while True:
                begin = time.perf_counter()
                work = bcast_object(self.comm, None)
                waited += time.perf_counter() - begin
                if work is None:
                    return waited
                note(work.name)
                self._together(work, attempt)
                note("")

    def dismiss(self) -> None:
        """End `help` on the other ranks."""
        with losses(self.comm):
            bcast_object(self.comm, None)

    def free(self) -> None:
        """Free the communicators. Collective."""
        self.of_work.Free()
        self.comm.Free()

    def _together(self, work: Work, attempt: Attempt) -> tuple[Any, Failure | None]:
        """Do this rank's part; return on the leader the result of the group. Collective."""
        value, failure = attempt(self.of_work, work)
        if self.comm.size == 1:
            return value, failure
        if failure and self.comm.rank:
            where = f"rank {self.comm.rank} of the group, on {socket.gethostname()}"
            failure = failure._replace(text=f"{where}: {failure.text}")
        if failure and survivable():
            self.of_work.Revoke()  # ranks that wait in it for this one fail too
        with _saying(failure):
            failed = share_rows(self.comm, np.array([[failure is not None]]), [1] * self.comm.size)
        if failed.any():
            failure = _first(gather_objects(self.comm, failure))
            self._renew()
        return value, failure

    def _renew(self) -> None:
        """Replace the work's communicator, which may hold messages to a failed rank. Collective.

        The old one is not freed: MPI would reuse its number for a new one, which would receive them.
        """
        try:
            with losses(self.comm):
                self.of_work = _copied(self.comm)
        except RankLost:
            raise
        except Exception as error:  # after some 2,000 failures with MPICH, 65,000 with Open MPI
            raise RolloutError(
                f"MPI has no communicator left, and each failure takes one: {one_line(error)}"
            ) from error


def _copied(comm: Comm) -> Comm:
    """Return a communicator of the same ranks. Collective."""
    copy = comm.Dup()
    # Open MPI 5 crashes if a revocation arrives before the communicator is complete on this rank.
    wait(comm.Ibarrier())
    return copy


def _saying(failure: Failure | None) -> AbstractContextManager[None]:
    """Return a context that warns why this rank failed if the others do not arrive, perhaps never."""
    if failure is None:
        return nullcontext()
    return saying_after(_PATIENCE, warn, f"{failure.text}; the other ranks of the group are still at work")


def _first(failures: list[Failure | None] | None) -> Failure | None:
    """Return the failure of the first rank that failed."""
    found = [failure for failure in failures or [] if failure]
    if len(found) < 2:
        return next(iter(found), None)
    text, frames = found[0]
    return Failure(f"{text} ({counted(len(found) - 1, 'more rank')} of the group failed)", frames)


class RankGroups:
    """The groups of a job, each of up to `size` consecutive ranks, which launchers tend to put on one node.

    A job with fewer ranks has one group. Ranks below the first that works, and those left over, belong to
    none.

    Args:
        size: of a group; 0: each rank works alone, without a communicator.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.divided: Comm = None
        self.leaders: Comm | None = None  # of the ranks that lead, and those below the first; None on others
        self.group: Group | None = None

    def width(self, ranks: int, first: int) -> int:
        """Return the number of ranks of each group."""
        return min(self.size, ranks - first)

    def count(self, ranks: int, first: int) -> int:
        """Return the number of groups, or of ranks that work alone."""
        if not self.size:
            return ranks - first
        return (ranks - first) // self.width(ranks, first)

    def describe(self, ranks: int, first: int) -> str:
        """Return the groups in words, to follow the number of ranks; empty if each rank works alone."""
        if self.size < 2:
            return ""
        width, count = self.width(ranks, first), self.count(ranks, first)
        idle = ranks - first - width * count
        words = f" in {counted(count, 'group')} of {width}"
        return f"{words}, {counted(idle, 'rank')} idle" if idle else words

    def divide(self, comm: Comm, first: int) -> Comm | None:
        """Return the communicator of the leaders and of ranks below the first; None on others. Collective."""
        if not self.size:
            return comm
        if comm is not self.divided:
            self.leaders, self.group = self._divide(comm, first)
            self.divided = comm
        return self.leaders

    def _divide(self, comm: Comm, first: int) -> tuple[Comm | None, Group | None]:
        if isinstance(comm, SerialComm):
            mpi = connect(os.environ)
            if isinstance(mpi, SerialComm):
                rule = "comm: expected a library that mpi4py can load, got none"
                raise UserError(f"{rule}; {MPI_REMEDY}")
            return comm, Group(mpi.Dup())
        from mpi4py import MPI

        if comm.size > 1 and MPI.Query_thread() < MPI.THREAD_MULTIPLE:
            # A thread of rank 0 hands out work while the work itself communicates.
            raise expected("MPI", "a library with THREAD_MULTIPLE", MPI.Query_thread())
        width = self.width(comm.size, first)
        number, place = divmod(comm.rank - first, width)
        member = 0 <= number < self.count(comm.size, first)
        leads = comm.rank < first or (member and place == 0)
        leaders = split(comm, lambda: comm.Split(0 if leads else MPI.UNDEFINED, comm.rank))
        part = split(comm, lambda: comm.Split(number if member else MPI.UNDEFINED, comm.rank))
        return leaders if leads else None, Group(part) if member else None

    def help(self, attempt: Attempt, note: Callable[[str], object]) -> float:
        """Help this rank's leader, if it has one, as Group.help does."""
        if self.group is None or self.leaders is not None:
            return 0.0
        return self.group.help(attempt, note)

    @contextmanager
    def led(self) -> Iterator[None]:
        """Dismiss this rank's helpers after the block, if it leads."""
        try:
            yield
        finally:
            if self.group and self.leaders is not None:
                self.group.dismiss()

    def free(self) -> None:
        """Free the communicators. Collective."""
        if self.leaders is not None and not isinstance(self.leaders, SerialComm):
            self.leaders.Free()
        if self.group:
            self.group.free()
