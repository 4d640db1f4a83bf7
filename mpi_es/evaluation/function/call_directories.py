"""A directory for each call of a function, empty when the call begins."""

import shutil
import tempfile
from pathlib import Path

from mpi_es.errors import RolloutError
from mpi_es.run_file.checkpoint import NOWHERE


class CallDirectories:
    """Makes RUN/calls/NAME for a call, and removes it after the call unless it is kept.

    A run that writes no files has temporary ones, and keeps none.

    Args:
        run: the directory of the run.
        keep: all, or only those of calls that failed.
    """

    def __init__(self, run: Path, keep: str) -> None:
        # Absolute: a call may change the working directory.
        self.base = None if run == NOWHERE else run.absolute() / "calls"
        self.keeps_all = keep == "all"

    def begin(self, name: str) -> Path:
        """Make and return the empty directory of a call; one that an earlier start left is removed."""
        try:
            if self.base is None:
                return Path(tempfile.mkdtemp(prefix=f"mpi-es-{name}-"))
            path = self.base / name
            if path.exists():
                shutil.rmtree(path)
            path.mkdir(parents=True)
        except OSError as error:  # such as a full disk: not the candidate's fault
            raise RolloutError(f"cannot make {error.filename} ({error.strerror})") from error
        return path

    def end(self, path: Path, *, failed: bool) -> None:
        """Remove the directory of a call that is over, unless it is kept."""
        if self.base is None or not (failed or self.keeps_all):
            # NFS keeps a file that a process still has open; the next call of this name removes it.
            shutil.rmtree(path, ignore_errors=True)
