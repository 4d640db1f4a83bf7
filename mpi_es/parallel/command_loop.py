"""Ranks in step: rank 0 gives a command, the others do their part, and a rank that dies is left behind."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import RolloutError, UserError, warn
from mpi_es.parallel.collectives import Comm, bcast
from mpi_es.parallel.rank_loss import END, ONWARD, RankLost, losses, shrink

T = TypeVar("T")
STOP = 0  # the command that ends serve


class CommandLoop(ABC):
    """Rank 0 leads, the others serve. A subclass says which commands there are.

    Args:
        header: how many numbers a command is.
        survives: whether the others go on when one dies, where MPI lets them.
    """

    def __init__(self, comm: Comm, header: int, *, survives: bool) -> None:
        self.comm, self.header, self.survives = comm, header, survives

    @abstractmethod
    def handle(self, numbers: NDArray[np.float64]) -> None:
        """Do this rank's part of a command (header,) of rank 0's. Collective."""

    def send(self, *numbers: float) -> None:
        """Tell the others what to take part in."""
        header = np.zeros(self.header)
        header[: len(numbers)] = numbers
        bcast(self.comm, header)

    def run_on_root(self, work: Callable[[], None]) -> None:
        """Do the work on rank 0 while the others serve; then all return. Collective.

        What `work` raises ends the others' part too if it was told between two commands, as UserError and
        RolloutError are; after anything else the ranks are no longer in step, and the job must end.
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
        """Take part in what rank 0 commands, until it says stop. Collective."""
        while self.retry_without_lost_ranks(self._serve_one):
            continue

    def _serve_one(self) -> bool:
        """Obey the next command; return whether there is more to come."""
        numbers = np.empty(self.header)
        bcast(self.comm, numbers)
        if numbers[0] == STOP:
            return not self._all_at_end()
        self.handle(numbers)
        return True

    def stop(self) -> None:
        """Let the others return from serve."""

        def attempt() -> bool:
            self.send(STOP)
            return self._all_at_end()

        while not self.retry_without_lost_ranks(attempt):
            continue

    # Losing a rank

    def retry_without_lost_ranks(self, attempt: Callable[[], T]) -> T:
        """Return what comes of an attempt, made again with those who are left when a rank is lost."""
        while True:
            try:
                with losses(self.comm):
                    return attempt()
            except RankLost:
                if not self.survives:
                    raise
                self._regroup(ONWARD)

    def _all_at_end(self) -> bool:
        """Tell whether all have heard of the end; else a rank was lost meanwhile. Collective."""
        return not self.survives or self._regroup(END)

    def _regroup(self, word: int) -> bool:
        """Go on without the dead; return whether there are none. Collective over those who are left."""
        before, self.comm = self.comm, shrink(self.comm, word)
        if self.comm is before:
            return True
        if self.comm.rank == 0:
            warn(f"{before.size - self.comm.size} of {before.size} ranks lost; the others go on")
        return False
