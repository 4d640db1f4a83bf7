"""Write files atomically: a file appears under its name only when it is complete."""

import contextlib
import itertools
import os
from pathlib import Path

from mpi_es.errors import UserError

_COUNT = itertools.count()  # others may write the same file at the same time


def write_whole(path: Path, content: bytes, option: str) -> None:
    """Write a file completely, or leave the old one; write directly to a device or a pipe.

    Args:
        option: the one that named the file.
    """
    place = path.resolve()  # a link stays a link
    special = os.path.exists(place) and not os.path.isfile(place)
    fresh = place if special else place.with_name(f".{place.name}.{os.getpid()}-{next(_COUNT)}.tmp")
    try:
        with fresh.open("wb") as file:
            file.write(content)
            file.flush()
            if not special:
                os.fsync(file.fileno())  # else a crash of the machine may leave an empty file in its place
        if not special:
            os.replace(fresh, place)
    except BaseException as error:
        if not special:
            with contextlib.suppress(OSError):
                fresh.unlink()
        if not isinstance(error, OSError):
            raise
        raise UserError(f"{option}: cannot write {path} ({error.strerror})") from error


def nearest_directory(directory: Path) -> Path:
    """Return the directory, or the nearest existing one above it."""
    return next(
        path for path in (directory.absolute(), *directory.absolute().parents) if os.path.exists(path)
    )
