"""The shared memory of a node, in which its ranks exchange messages: whether MPI finds room there.

MPI maps files there and writes to them. If no room is left, Linux ends the rank with SIGBUS and no message.
"""

import contextlib
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path

from mpi_es.errors import UserError
from mpi_es.text import counted, number

DIRECTORY = Path("/dev/shm")
REMEDY = "remove leftovers there, or mount more (docker: --shm-size=1g)"
# Bytes that MPICH writes when it starts: for each rank, and once. Measured with 1, 2, 3 and 7 ranks: once
# 8 KiB with MPICH 5.0.2, up to 32 KiB with 4.3.1.
_EACH, _ONCE = 1032 * 2**10, 32 * 2**10
_MIB = 2**20
_JUST_NOW = 60.0  # seconds


class NoRoom(UserError):
    """A node whose shared memory is too small; the other nodes' may be large enough."""


def needed(ranks: int) -> int:
    """Return the bytes without which MPICH does not start the ranks of a node."""
    return _EACH * ranks + _ONCE


def room(directory: Path) -> float:
    """Return how many bytes are free; infinity without a limit."""
    try:
        found = os.statvfs(directory)
    except OSError:  # MPI reports a missing directory itself
        return math.inf
    return found.f_bavail * found.f_frsize if found.f_blocks else math.inf


def check(environ: Mapping[str, str], directory: Path = DIRECTORY) -> NoRoom | None:
    """Return an error if MPICH could not start this node's ranks; call it before MPI starts.

    All ranks of a node get the same result, even if some have taken their memory already.
    """
    ranks = int(environ.get("MPI_LOCALNRANKS", "1"))
    there = room(directory) + _taken_just_now(directory)
    if there >= needed(ranks):
        return None
    wanted = f"{number(needed(ranks) / _MIB)} MiB for {counted(ranks, 'rank')}"
    return NoRoom(f"MPI: expected {wanted} in {directory}, got {number(there / _MIB)} MiB; {REMEDY}")


def _taken_just_now(directory: Path) -> int:
    """Return the bytes of MPICH's files from the last minute, in which all ranks of this job began."""
    taken = 0
    for path in directory.glob("mpich_shm_*"):
        with contextlib.suppress(OSError):  # its job has ended
            found = path.stat()
            taken += found.st_blocks * 512 * (time.time() - found.st_ctime < _JUST_NOW)
    return taken
