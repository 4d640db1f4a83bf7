"""Run a script's call of the library on all ranks."""

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from mpi_es.errors import RolloutError, UserError, warn
from mpi_es.parallel import launcher_watch
from mpi_es.parallel.collectives import Comm, SerialComm, share_rows, split
from mpi_es.parallel.rank_loss import ANEW, BeginAnew, RankLost, losses, shrink, survivable
from mpi_es.parallel.start_mpi import FORWARDED, abort, connect, find_launch
from mpi_es.parallel.waiting import saying_after
from mpi_es.parallel.watch import watched

T = TypeVar("T")
_ONE_AT_A_TIME = "one call at a time, got one from a second thread; use a process for each"
_PATIENCE = 30.0  # seconds after which a call warns that it waits
_WAITS = (
    "mpi_es: this call waits for ranks that have not made it; every rank of the job, or of comm, must make "
    "it; to search on one rank alone, use mpi_es.Search"
)
_CALL, _END = 0, 1  # where a rank is when it meets the others: at a call, or at the end of its script


class RunStopped(SystemExit):
    """A signal stopped the run, which is saved; unless it is caught, it ends the script with exit code 0."""


class Ranks:
    """The ranks that make calls together, without those that were lost.

    Args:
        given: the script's communicator, for one call; without it they are all that this process's launcher
            started.
    """

    caller: ClassVar[int | None] = None  # the thread that is calling

    def __init__(self, given: Comm = None) -> None:
        self.given = given
        self.comm: Comm = None
        self.raised: BaseException | None = None  # the last exception that all ranks of a call raised
        self.ended: list[int] = []  # ranks whose script is at its end

    def join(self) -> Comm:
        """Return the communicator; the first call starts MPI if there is a launcher. Collective."""
        if self.comm is not None:
            return self.comm
        launched, mpi = find_launch(os.environ), sys.modules.get("mpi4py.MPI")
        launcher_watch.start(launched.variable)
        if self.given is not None:
            self.comm = _own(self.given)
        elif launched.variable or _is_parallel(mpi):
            self.comm = _own(connect(os.environ))
            self._watch_the_script(
                max(launched.size, self.comm.size), finalizes=mpi is not None or not survivable()
            )
        else:
            self.comm = SerialComm()
        return self.comm

    def meet(self, at: int) -> list[int]:
        """Return the ranks whose script is at its end. Collective, as long as there are none.

        Every call begins with this and every script ends with it. So a call that some ranks do not make
        fails instead of waiting for them for ever.
        """
        if not self.ended:
            places = share_rows(self.comm, np.array([[at]]), [1] * self.comm.size)
            self.ended = np.flatnonzero(places == _END).tolist()
        return self.ended

    def _watch_the_script(self, size: int, *, finalizes: bool) -> None:
        """End the job if the script raises on some ranks only, since the others would wait for them.

        An exception that all ranks of a call raised is printed once, and ends them with code 2, as in a
        command.

        Args:
            size: how many ranks the launcher started.
            finalizes: whether mpi4py ends MPI with the script, for instance since the script imported it.
        """
        from mpi4py import MPI  # there is a launcher, so this runs under MPI

        print_exception = sys.excepthook

        def end(kind: Any, error: BaseException, trace: Any) -> None:
            if MPI.Is_finalized():  # by the script
                print_exception(kind, error, trace)
                return
            if error is not self.raised:
                print_exception(kind, error, trace)
                sys.stderr.flush()
                time.sleep(FORWARDED)
                self.comm.Abort(1)
            if self.comm.rank == min({*range(self.comm.size)}.difference(self.ended)):
                print(f"error: {error}", file=sys.stderr, flush=True)
            leave(2)
            sys.exit(2)  # ends Python even in an excepthook

        def leave(code: int = 0) -> None:
            if MPI.Is_finalized():
                return
            lost = self.comm.size < size
            try:
                with losses(self.comm):
                    self.meet(_END)
            except RankLost:
                lost = True
            if lost and finalizes:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)  # MPI_Finalize may wait for dead ranks

        sys.excepthook = end
        atexit.register(leave)


def _is_parallel(mpi: Any) -> bool:
    """Return whether the script has started MPI with several ranks, by whatever launcher."""
    return bool(mpi and mpi.Is_initialized() and not mpi.Is_finalized() and mpi.COMM_WORLD.size > 1)


def _own(comm: Comm) -> Comm:
    """Return a duplicate, in which no message of the script arrives. Collective."""
    with _saying_that_it_waits(comm):
        return split(comm, comm.Dup)


def _saying_that_it_waits(comm: Comm) -> AbstractContextManager[None]:
    """Return a context that warns on the first two ranks, one of which may be the one that is missing."""
    if comm.size == 1 or comm.rank > 1:
        return nullcontext()
    return saying_after(_PATIENCE, warn, _WAITS)


def on_all_ranks(work: Callable[[Ranks], T], ranks: Ranks) -> T:
    """Return what `work` returns. Collective: every rank calls it.

    `work` raises UserError, RolloutError and RunStopped only on all ranks together. If it cannot continue
    without a lost rank, it is called again on fewer ranks.
    """
    if Ranks.caller is not None:
        nested = Ranks.caller == threading.get_ident()
        rule = "no call within another, such as by the evolved function" if nested else _ONE_AT_A_TIME
        raise UserError(f"mpi_es: expected {rule}")
    Ranks.caller = threading.get_ident()
    try:
        while True:
            ranks.join()
            try:
                return _once(work, ranks)
            except BeginAnew as loss:
                ranks.comm = loss.comm
                if ranks.comm.rank == 0:
                    warn(f"ranks lost; {ranks.comm.size} continue from the last checkpoint")
    finally:
        Ranks.caller = None
        if ranks.given is not None and ranks.comm is not None:
            ranks.comm.Free()


def _once(work: Callable[[Ranks], T], ranks: Ranks) -> T:
    """Return what `work` returns, or raise BeginAnew if it cannot continue without a lost rank."""
    comm = ranks.comm
    outcome: list[T] = []
    ranks.raised = None
    try:
        with losses(comm), _saying_that_it_waits(comm):
            ended = ranks.meet(_CALL)
        if ended:
            absent = " and ".join(map(str, ended))
            rule = "a call on every rank of the job"
            ranks.raised = UserError(f"mpi_es: expected {rule}, got the script's end on rank {absent}")
        else:
            outcome = _outcome(work, ranks)
    except RankLost:
        shrink(comm, ANEW)  # raises BeginAnew
        raise
    except BeginAnew:
        raise
    except BaseException:  # the others would wait for ever
        if comm.size > 1:
            abort(comm)
            os._exit(1)
        raise
    if ranks.raised is not None:
        raise ranks.raised
    return outcome[0]


def _outcome(work: Callable[[Ranks], T], ranks: Ranks) -> list[T]:
    """Return what `work` returns, in a list; the list is empty if all ranks raise, and the error is kept."""
    # One thread per rank; also, results of linear algebra then do not depend on the number of cores.
    with threadpool_limits(1), watched(ranks.comm):
        try:
            return [work(ranks)]
        except (UserError, RolloutError, RunStopped) as error:
            ranks.raised = error
    return []
