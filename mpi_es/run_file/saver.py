"""Save a run: rarely enough to cost little, and always when the run ends."""

import math
import time
from pathlib import Path
from typing import Any

from mpi_es.run_file import checkpoint
from mpi_es.run_file.lock import Lock
from mpi_es.run_file.run_status import stamp

_REST = 49  # times the length of a save: saving takes at most 2 % of a run


class Saver:
    """Save the content of a run.

    Args:
        interval: the minimum seconds between saves; 0: save every time.
    """

    def __init__(self, directory: Path, interval: float) -> None:
        # Absolute: a function may change the working directory.
        self.directory, self.interval = directory.absolute(), interval
        self.lock: Lock | None = None  # of the directory
        self.seconds = 0.0  # that the last save took
        self._end = -math.inf  # when the last save ended
        self._rest = 0.0  # the least seconds between its end and the next one, as its file says

    @property
    def writes(self) -> bool:
        """Whether the run writes files."""
        return self.directory != checkpoint.NOWHERE

    @property
    def is_due(self) -> bool:
        """Whether it is time for the next save."""
        return self.writes and time.monotonic() - self._end >= self._rest

    def save(
        self, content: dict[str, Any], reason: str = "", *, finished: bool = False, begin: float | None = None
    ) -> None:
        """Write run.h5.

        Args:
            reason: why the run stops; empty: it continues.
            finished: whether nothing is left to do.
            begin: when collecting the content began, by time.monotonic.
        """
        if not self.writes:
            return
        begin = time.monotonic() if begin is None else begin
        self._rest = max(self.interval, _REST * self.seconds) if self.interval else 0.0
        life = stamp(reason, finished=finished, rest=self._rest)
        checkpoint.save(self.directory, content | {"life": life}, self.lock)
        self._end = time.monotonic()
        self.seconds = self._end - begin
