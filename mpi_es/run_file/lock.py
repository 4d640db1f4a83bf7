"""The lock of a run's directory: only one job at a time writes the run, and only there."""

import contextlib
import fcntl
import os
import socket
import stat
import weakref
from collections.abc import Iterator
from pathlib import Path

from mpi_es.errors import UserError

NAME = ".lock"


class Lock:
    """A directory that this process has locked, kept open so that it can be recognised.

    Args:
        file: a descriptor of its lock file; None if it cannot have one.
    """

    def __init__(self, directory: Path, file: int | None) -> None:
        self.directory, self.file = directory.absolute(), file  # as Saver's
        self.handle: int | None = None
        with contextlib.suppress(OSError):  # the first save reports what is wrong with it
            self.handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)

    def check(self) -> None:
        """Refuse to write if the path now leads to another directory, or to another job's lock."""
        for handle, path in ((self.handle, self.directory), (self.file, self.directory / NAME)):
            if handle is None:
                continue
            try:
                same = os.path.samestat(os.fstat(handle), os.stat(path))
            except FileNotFoundError:
                same = handle == self.file  # removed by hand; the directory is still the same
            except OSError as error:
                raise UserError(f"{path}: could not be saved ({error.strerror})") from error
            if not same:
                what = "was moved, replaced or removed during the run"
                raise UserError(f"{self.directory}: {what}; the last checkpoint is in the moved directory")

    def close(self) -> None:
        """Release the lock."""
        for handle in (self.handle, self.file):
            if handle is not None:
                _close(handle)
        self.handle = self.file = None


_held: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def _let_go() -> None:
    """Close the locks in a forked process, such as a worker of a function's pool: it may outlive the run."""
    for lock in [*_held]:
        lock.close()


os.register_at_fork(after_in_child=_let_go)


def _close(handle: int) -> None:
    """Close a file to which nothing was written; ignore errors, which lose nothing."""
    with contextlib.suppress(OSError):
        os.close(handle)


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[Lock]:
    """Hold a directory's lock inside the block, or raise if another process holds it.

    The kernel releases it when the process ends. A file system without locks is not protected.
    """
    lock = Lock(directory, _open(directory / NAME))
    try:
        if lock.file is not None:
            _take(lock.file, directory)
        _held.add(lock)
        yield lock
    finally:
        lock.close()


def _open(path: Path) -> int | None:
    """Return a descriptor of a lock file; refuse anything else, such as a fifo, which would block."""
    options = os.O_NONBLOCK | os.O_NOCTTY
    try:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | options, 0o666)
        except PermissionError:
            if not os.path.lexists(path):
                raise
            # Another user's file, which on local disks can be locked too.
            file = os.open(path, os.O_RDONLY | options)
    except OSError as error:
        if os.path.lexists(path) and not os.path.isfile(path) and not isinstance(error, PermissionError):
            raise _no_file(path) from error
        return None  # the first save reports what is wrong with the directory
    try:
        is_file = stat.S_ISREG(os.fstat(file).st_mode)
    except OSError as error:
        _close(file)
        raise UserError(f"{path}: could not be opened ({error.strerror})") from error
    if not is_file:
        _close(file)
        raise _no_file(path)
    return file


def _no_file(path: Path) -> UserError:
    return UserError(f"{path}: expected a file or nothing, got something else; remove it")


def _take(file: int, directory: Path) -> None:
    """Lock the file, and write the holder into it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        path = directory / NAME
        raise UserError(f"{directory}: another job is running this run{_holder(path)}") from None
    except OSError:
        pass  # a file system without locks
    with contextlib.suppress(OSError):  # the lock holds without its text
        os.truncate(file, 0)
        os.pwrite(file, f"{_this_process()}\n".encode(), 0)


def _this_process() -> str:
    """Return how another job names this one when it finds the lock held."""
    job = os.environ.get("SLURM_JOB_ID")
    return f"host {socket.gethostname()}, process {os.getpid()}" + (f", Slurm job {job}" if job else "")


def _holder(lock: Path) -> str:
    """Return the content of the lock's file, in brackets; empty if it cannot be read."""
    try:
        text = lock.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError):
        return ""
    return f" ({text})" if text else ""
