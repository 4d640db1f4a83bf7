"""The doctor's checks of memory and disk: what ranks share, and where a run is saved."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mpi_es.diagnosis.job import Finding
from mpi_es.jit.cache import CACHE_REMEDY, cache_directory, cache_places
from mpi_es.parallel.shared_memory import REMEDY, needed
from mpi_es.run_file.atomic_write import nearest_directory
from mpi_es.text import thousands

_MIB = 2**20
_WRITABLE = "give --run-dir a directory that you can write to"
_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"}


def shared_memory(directory: Path, ranks: int) -> Finding:
    """Check the size of the shared memory in which the ranks of a host exchange messages."""
    try:
        with tempfile.NamedTemporaryFile(dir=directory):
            usage = shutil.disk_usage(directory)
    except OSError as error:
        remedy = "mount a tmpfs there (docker: --shm-size=1g)"
        return Finding("shared memory", "fail", f"{directory}: {error.strerror}", remedy)
    seen = f"{thousands(usage.free // _MIB)} of {thousands(usage.total // _MIB)} MiB free in {directory}"
    if usage.free < needed(ranks):
        return Finding("shared memory", "fail", seen, REMEDY)
    return Finding("shared memory", "ok", seen)


def hdf5_write(directory: Path) -> Finding:
    """Write, sync, rename and read a file, as a checkpoint is saved."""
    import h5py

    try:
        with tempfile.TemporaryDirectory(dir=nearest_directory(directory), prefix=".doctor-") as name:
            begun, done = Path(name, "run.h5.tmp"), Path(name, "run.h5")
            with h5py.File(begun, "w") as file:
                file["numbers"] = np.arange(1000)
                file.flush()
                os.fsync(file.id.get_vfd_handle())
            begun.replace(done)
            with h5py.File(done, "r") as file:
                same = bool((file["numbers"][:] == np.arange(1000)).all())
    except OSError as error:
        remedy = _WRITABLE
        if "lock" in str(error):
            remedy = "export HDF5_USE_FILE_LOCKING=FALSE, or use another file system"
        return Finding("HDF5", "fail", f"{directory}: {error.strerror or error}", remedy)
    if not same:
        return Finding(
            "HDF5", "fail", f"{directory} returns numbers that were not written", "use another file system"
        )
    return Finding("HDF5", "ok", f"written, synced, renamed and read in {nearest_directory(directory)}")


def file_lock(directory: Path) -> Finding:
    """Lock a file, and check that it cannot be locked twice."""
    try:
        with (
            tempfile.NamedTemporaryFile(dir=nearest_directory(directory)) as first,
            open(first.name, "r+b") as second,
        ):
            seen = _twice_locked(first, second)
    except OSError as error:
        return Finding("file lock", "fail", f"{directory}: {error.strerror or error}", _WRITABLE)
    if not seen:
        return Finding("file lock", "ok", "a second lock is refused")
    remedy = "run one job at a time in a run directory (Lustre: mount it with -o flock)"
    return Finding("file lock", "warn", seen, remedy)


def _twice_locked(first: Any, second: Any) -> str:
    """Return what is wrong with the locks of a file that is open twice; empty if the second is refused."""
    try:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return f"no file can be locked ({error.strerror or error})"
    try:
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return ""
    except OSError as error:
        return f"a lock cannot be requested ({error.strerror or error})"
    return "a file can be locked twice"


def file_system(directory: Path, mounts: str) -> Finding:
    """Report the type of the file system and its free space.

    Args:
        mounts: the text of /proc/self/mounts.
    """
    place = nearest_directory(directory).resolve()
    entries = [line.split() for line in mounts.splitlines()]
    # Reversed, since the last mount at a place counts and max returns the first.
    around = [(Path(entry[1].replace("\\040", " ")), entry[2]) for entry in reversed(entries)]
    inside = [(mount, kind) for mount, kind in around if place.is_relative_to(mount)]
    kind = max(inside, key=lambda one: len(one[0].parts))[1] if inside else "unknown"
    free = shutil.disk_usage(place).free
    seen = f"{kind}, {thousands(round(free / 2**30, 1))} GiB free"
    if free < 2**30:
        return Finding("file system", "warn", seen, "make room, or choose another --run-dir")
    if kind in ("tmpfs", "ramfs"):
        return Finding(
            "file system",
            "warn",
            seen,
            "it is in memory, and lost when the machine stops: choose another --run-dir",
        )
    if kind in _NETWORK:
        return Finding("file system", "warn", seen, "if saving is slow, raise --checkpoint-interval")
    return Finding("file system", "ok", seen)


def numba_cache(environ: Mapping[str, str], package: Path) -> Finding:
    """Look for a directory in which numba can store machine code."""
    place = cache_directory(environ, package)
    if place:
        return Finding("numba cache", "ok", str(place))
    seen = f"cannot write to {', '.join(map(str, cache_places(environ, package)))}"
    return Finding("numba cache", "fail", seen, CACHE_REMEDY)
