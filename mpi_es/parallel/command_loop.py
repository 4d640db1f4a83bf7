"""Rank 0 sends commands; the other ranks handle them, and continue without a rank that dies."""

from collections.abc import Callable
from typing import Any, TypeVar

from mpi_es.errors import RolloutError, UserError, warn
from mpi_es.parallel.collectives import Comm, bcast_object
from mpi_es.parallel.rank_loss import END, ONWARD, RankLost, losses, shrink

T = TypeVar("T")
_STOP = "stop"  # the command that ends serve


class CommandLoop:
    """Rank 0 works in run_on_root and sends commands; the other ranks handle them in serve.

    `handlers` holds, on every rank, the function of a payload that ranks other than 0 call for each command.

    Args:
        survives: whether the other ranks continue when one dies, if MPI lets them.
    """

    def __init__(self, comm: Comm, *, survives: bool = False) -> None:
        self.comm, self.survives = comm, survives
        self.handlers: dict[str, Callable[[Any], object]] = {}

    def send(self, command: str, payload: Any = None) -> None:
        """Start the handlers of the other ranks."""
        bcast_object(self.comm, (command, payload))

    def run_on_root(self, work: Callable[[], object]) -> None:
        """Do the work on rank 0 while the others serve; then all return. Collective.

        A UserError or RolloutError of `work` ends serve on the other ranks, since both are raised between
        commands. After any other exception the ranks are out of step, and the job must end.
        """
        if self.comm.rank != 0:
            self.serve()
            return
        try:
            work()
        except (UserError, RolloutError):
            self.stop()
            raise
        self.stop()

    def serve(self) -> None:
        """Handle rank 0's commands until it stops. Collective."""
        while self.retry_without_lost_ranks(self._serve_one):
            continue

    def _serve_one(self) -> bool:
        """Handle the next command; return whether more are to come."""
        command, payload = bcast_object(self.comm, None)
        if command == _STOP:
            return not self._all_at_end()
        self.handlers[command](payload)
        return True

    def stop(self) -> None:
        """Let the other ranks return from serve."""

        def attempt() -> bool:
            self.send(_STOP)
            return self._all_at_end()

        while not self.retry_without_lost_ranks(attempt):
            continue

    def retry_without_lost_ranks(self, attempt: Callable[[], T]) -> T:
        """Return what `attempt` returns; when a rank is lost, the remaining ranks repeat it."""
        while True:
            try:
                with losses(self.comm):
                    return attempt()
            except RankLost:
                if not self.survives:
                    raise
                self._regroup(ONWARD)

    def _all_at_end(self) -> bool:
        """Return whether all ranks have seen the end; false if one was lost meanwhile. Collective."""
        return not self.survives or self._regroup(END)

    def _regroup(self, word: int) -> bool:
        """Continue without dead ranks; return whether there were none.
        Collective over the remaining ranks.
        """
        before, self.comm = self.comm, shrink(self.comm, word)
        if self.comm is before:
            return True
        if self.comm.rank == 0:
            warn(f"{before.size - self.comm.size} of {before.size} ranks lost; the others continue")
        return False
