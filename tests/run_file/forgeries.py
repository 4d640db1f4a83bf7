"""Forged run files: HDF5 with the right checksum, and a content that no run writes."""

import hashlib
import io
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

import h5py
import numpy as np

from mpi_es.errors import RolloutError, UserError
from mpi_es.parallel.collectives import SerialComm

BLOCK = 512
TEXTS = ("text", "a" * 100_000, "\x1b]0;owned\x07\x1b[2J\r\nerror", "../../x", "no.such:thing")
VALUES = (
    *TEXTS,
    -7,
    2**62,
    3.5,
    np.nan,
    np.inf,
    True,
    1j,
    np.arange(3.0),
    np.zeros((2, 2)),
    h5py.Empty("f8"),
)
ARRAYS: tuple[Callable[[Any], Any], ...] = (
    lambda old: np.full(old.shape, np.nan),
    lambda old: np.full(old.shape, np.inf),
    lambda old: np.full(old.shape, -5).astype(old.dtype),
    lambda old: np.full(old.shape, 2**62).astype(old.dtype),
    lambda old: np.zeros(old.shape, "i1"),
    lambda old: np.resize(old, (len(old) + 1, *old.shape[1:])),
    lambda old: np.resize(old, (7, 2)),
    lambda old: old[:-1],
    lambda old: old[..., None],
    lambda old: np.array(1).astype(old.dtype),
)
Edit = tuple[str, str, Any]  # a path, an attribute of it or nothing, and what is put there; None removes it


def changed(image: bytes, *edits: Edit) -> bytes:
    """Return a file after some edits, with the first block that belongs to its content."""
    buffer = io.BytesIO(image)
    with h5py.File(buffer, "r+") as file:
        for path, attribute, value in edits:
            place, key = (file[path].attrs, attribute) if attribute else (file, path)
            if key in place:
                del place[key]
            if value is not None:
                place[key] = value
    content = buffer.getvalue()[BLOCK:]
    digest = hashlib.blake2b(content, digest_size=32).hexdigest()
    return f"mpi_es run.h5 1 blake2b {digest}\n".encode().ljust(BLOCK, b"\0") + content


def edits_of(image: bytes) -> list[Edit]:
    """Return edits of each group, array and attribute of a file, by all kinds of values in turn."""
    with h5py.File(io.BytesIO(image)) as file:
        return list(_edits(file))


def _edits(file: h5py.File) -> Iterator[Edit]:
    values, arrays, paths = cycle(VALUES), cycle(ARRAYS), list[str]()
    file.visit(paths.append)
    for path in paths:
        yield path, "", None
        if isinstance(file[path], h5py.Dataset):
            yield from ((path, "", make(file[path][...])) for make in islice(arrays, 3))
            continue
        yield path, "", np.arange(4.0)
        yield f"{path}/more", "", np.zeros(3)
        for name in file[path].attrs:
            yield path, name, next(values)
            if path != "config":  # an option that a file lacks has its default
                yield path, name, None


def is_read(directory, image, load):
    """Return whether a run's file is read, and what is said of it if it is not."""
    (directory / "run.h5").write_bytes(image)
    try:
        load(directory)
    except UserError as error:
        return False, str(error)
    return True, ""


def assert_refused_or_read(directory, image, load):
    """Assert that every forgery of a file is refused in one line or read, and most are refused."""
    edits = edits_of(image)
    refused = 0
    for edit in edits:
        read, said = is_read(directory, changed(image, edit), load)
        assert read or (str(directory) in said and "\n" not in said), edit
        refused += not read
    assert refused > 0.7 * len(edits)


def ends_in_one_line_or_works(program, words, run):
    """Assert that a command on a run refuses it in one line, or does its work."""
    said, code = "", 0
    try:
        code = program.main(SerialComm(), [word.format(run=run) for word in words])
    except (UserError, RolloutError) as error:
        said = str(error)
    assert (code, said.count("\n")) == (0, 0)
