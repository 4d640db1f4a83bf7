"""run.h5: the whole state of a run as an HDF5 file; a kill, a full disk or a flipped bit is always detected.

The file starts with a user block of 512 bytes, which HDF5 ignores: name, format version and a digest of the
rest. HDF5 works in memory only: a file is written and read in one piece, HDF5's locks do not matter, and
reading a file while a job writes is safe.
"""

import contextlib
import hashlib
import os
import stat
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpi_es.errors import UserError, expected
from mpi_es.run_file import hdf5, schema
from mpi_es.run_file.lock import Lock

NAME = "run.h5"
PREVIOUS = "run.previous.h5"
DAMAGED = "run.damaged.h5"
NOWHERE = Path(os.devnull)  # the directory of a run that writes no files
VERSION = 1
_COMMANDS = {  # that read a run of each program
    "mpi_es.train": "use python -m mpi_es.report, .evaluate or .export; mpi_es.train continues it",
    "pbt.train": "use python -m pbt.report, .evaluate, .replay or .export; pbt.train continues it",
}
_BLOCK = 512  # the smallest user block of HDF5

Check = Callable[[dict[str, Any]], None]  # raises Unfit for content that is not a run's


class Damaged(UserError):
    """A file whose content is not what was written."""


def save(directory: Path, content: dict[str, Any], lock: Lock | None = None) -> None:
    """Replace run.h5 by one with this content; keep the old one as run.previous.h5.

    Args:
        content: what `load` returns: strings, numbers, arrays, and dicts of these.
        lock: of the directory; refuse to write if another directory has taken its place.
    """
    image = encode(content)
    path, fresh = directory / NAME, directory / f".{NAME}.tmp"
    if lock:
        lock.check()
    try:
        with open(fresh, "wb") as file:
            file.write(image)
            file.flush()
            os.fsync(file.fileno())
        if lock:
            lock.check()
        _keep(path, directory / PREVIOUS)
        os.replace(fresh, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        if lock:
            lock.check()  # if the directory was moved meanwhile, that is the cause
        held = [name for name in (NAME, PREVIOUS) if os.path.exists(directory / name)]
        state = f"{held[0]} holds an earlier generation" if held else "none was ever written"
        raise UserError(f"{path}: could not be saved ({error.strerror or error}); {state}") from error
    try:
        _sync(directory)
    except OSError as error:
        why = error.strerror or error
        raise UserError(f"{path}: saved, but its directory was not synced ({why}); check the disk") from error


def exists(directory: Path) -> bool:
    """Return whether a directory holds a run."""
    try:
        return any((directory / name).exists() for name in (NAME, PREVIOUS))
    except OSError as error:
        raise UserError(f"{directory}: cannot be searched for a run ({error.strerror})") from error


def directory_of(run: Path) -> Path:
    """Return the directory of a run, given its directory or its run.h5."""
    if not os.path.isfile(run):  # pathlib's is_file raises if a directory cannot be read
        return run
    if run.name == NAME:
        return run.parent
    hint = f"to read a run file of another name, copy it to DIRECTORY/{NAME}"
    if run.name == PREVIOUS:
        hint = f"use {run.parent}, which reads it if {NAME} is damaged; to go back to it, copy it to {NAME}"
    raise expected("run", f"a directory that holds {NAME}", str(run), hint)


def fingerprint(directory: Path) -> bytes:
    """Return the first blocks of a directory's files, which differ between any two saves."""
    blocks = []
    for name in (NAME, PREVIOUS):
        try:
            with open(directory / name, "rb") as file:
                blocks.append(file.read(_BLOCK))
        except OSError:
            blocks.append(b"")
    return b"|".join(blocks)


def load(directory: Path, check: Check = schema.check) -> tuple[dict[str, Any], str]:
    """Return the content of the run's file, and a warning: empty, or why run.previous.h5 was read instead.

    Args:
        check: raises Unfit for content that the program does not write.
    """
    directory = directory_of(directory)
    path, previous = directory / NAME, directory / PREVIOUS
    if not exists(directory):
        raise expected("run", f"a directory that holds {NAME}", str(directory))
    try:
        return decode(path, check), ""
    except Damaged as error:
        if not os.path.exists(previous):  # pathlib's exists raises if the file system is gone
            raise
        warning = f"{error}; using {PREVIOUS}, the previous checkpoint"
        return decode(previous, check), warning


def load_run(directory: str | Path) -> dict[str, Any]:
    """Return the content of a run's file as nested dicts of arrays and plain values.

    If run.h5 is damaged, read the previous checkpoint, with a warning.
    """
    content, warning = load(Path(directory))
    if warning:
        warnings.warn(warning, stacklevel=2)
    return content


def load_of(program: str, directory: Path, check: Check = schema.check) -> tuple[dict[str, Any], str]:
    """Return content and warning, as `load` does, of a run of `program`; refuse one of the other program."""
    content, warning = load(directory, check)
    check_program(program, content, directory)
    return content, warning


def check_program(program: str, content: dict[str, Any], path: Path) -> None:
    """Refuse the content of a run of another program."""
    found = "pbt.train" if "members" in content else "mpi_es.train"
    if found != program:
        raise UserError(f"run: expected a run of {program}, got one of {found}, {path}; {_COMMANDS[found]}")


def set_aside(directory: Path) -> None:
    """Rename a damaged run.h5; the next save would keep it as the previous file and lose the intact one."""
    with contextlib.suppress(OSError):
        os.replace(directory / NAME, directory / DAMAGED)


def decode(path: Path, check: Check = schema.check) -> dict[str, Any]:
    """Return the content of one file, after checking its digest, structure and content."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # a pipe must not block
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Damaged(f"{path}: expected a file")
            image = file.read()
    except PermissionError as error:  # the file is intact, and not to be set aside
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    except OSError as error:
        raise Damaged(f"{path}: cannot be read ({error.strerror})") from error
    return content_of(image, path, check)


def content_of(image: bytes, path: Path, check: Check = schema.check) -> dict[str, Any]:
    """Return the content of the bytes of a file, as `decode` does.

    Args:
        path: of the file, for errors.
    """
    version = _version(image, path)
    try:
        content = hdf5.read(image)
        named = {name: content.pop(name, None) for name in ("format", "version")}
        if type(named["version"]) is not int or named["version"] != version:
            raise hdf5.Unfit("it has two different versions")
        if version > VERSION:
            newer = f"expected format {VERSION}, got {version}; use a newer mpi_es"
            raise UserError(f"{path}: {newer}")
        check(content)
    except hdf5.Unfit as error:
        raise Damaged(f"{path}: damaged, or not a run file: {error}") from error
    return named | content


def _version(image: bytes, path: Path) -> int:
    """Return the format version of a file; refuse one that does not belong to its first block."""
    block, rest = image[:_BLOCK], memoryview(image)[_BLOCK:]
    if not block.startswith(b"mpi_es "):
        raise Damaged(f"{path}: expected a run file of mpi_es, got another file or a damaged one")
    words = block.split()
    version = int(words[2]) if len(words) > 2 and words[2].isdigit() and len(words[2]) < 10 else VERSION
    if block != _block(rest, version):
        raise Damaged(f"{path}: damaged, its content does not match its checksum")
    return version


def encode(content: dict[str, Any]) -> memoryview:
    """Return the bytes of a run file, without copying them: they may be gigabytes."""
    named = content | {"format": "mpi_es run", "version": VERSION}
    image = hdf5.written(named, _BLOCK).getbuffer()
    image[:_BLOCK] = _block(image[_BLOCK:], VERSION)
    return image


def _block(content: memoryview, version: int) -> bytes:
    """Return the first block of a file with this content after it."""
    digest = hashlib.blake2b(content, digest_size=32).hexdigest()
    return f"mpi_es {NAME} {version} blake2b {digest}\n".encode().ljust(_BLOCK, b"\0")


def _keep(path: Path, previous: Path) -> None:
    """Give the file at `path` the name `previous` too, so that one complete file exists at every moment."""
    if not path.exists():
        return
    link = previous.with_suffix(".tmp")
    with contextlib.suppress(FileNotFoundError):
        link.unlink()
    try:
        os.link(path, link)
        os.replace(link, previous)
    except OSError:  # a file system without hard links
        os.replace(path, previous)


def _sync(directory: Path) -> None:
    """Sync a directory, so that its renames survive a power cut."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
