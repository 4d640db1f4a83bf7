"""Forged run files: HDF5 with the right checksum, and a content that no run writes.

`forged(kind, image, seed)` returns a file made from a real one; the seed chooses what is changed.
"""

import hashlib
import io
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm

BLOCK = 512

Change = Callable[[h5py.File, np.random.Generator], object]


def seal(image: bytes, version: int = 1) -> bytes:
    """Return an image with the first block that belongs to its content."""
    digest = hashlib.blake2b(memoryview(image)[BLOCK:], digest_size=32).hexdigest()
    block = f"mpi_es run.h5 {version} blake2b {digest}\n".encode().ljust(BLOCK, b"\0")
    return block + bytes(image[BLOCK:])


def changed(image: bytes, change: Callable[[h5py.File], object]) -> bytes:
    """Return a sealed file after a change by h5py."""
    buffer = io.BytesIO(image)
    with h5py.File(buffer, "r+") as file:
        change(file)
    return seal(buffer.getvalue())


def forged(kind: str, image: bytes, seed: int) -> bytes:
    """Return a forged file of a kind."""
    rng = np.random.default_rng([seed, sum(kind.encode())])
    return changed(image, lambda file: KINDS[kind](file, rng))


def one(rng: np.random.Generator, choices: list[Any]) -> Any:
    """Return one of several."""
    return choices[int(rng.integers(len(choices)))]


def paths(file: h5py.File, kind: type) -> list[str]:
    """Return the paths of all groups or datasets."""
    found: list[str] = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, kind) else None)
    return found


def attribute(value: object, *kinds: type) -> Change:
    """Return the change that gives an attribute of some types another value."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        pairs = [(file[group].attrs, name) for group in paths(file, h5py.Group) for name in file[group].attrs]
        attributes, name = one(rng, [pair for pair in pairs if isinstance(pair[0][pair[1]], kinds or object)])
        attributes[name] = value

    return change


def array(make: Callable[[Any], object], among: str = "") -> Change:
    """Return the change that replaces a dataset by what is made of it."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        path = one(rng, [path for path in paths(file, h5py.Dataset) if among in path])
        old = file[path][...]
        del file[path]
        file[path] = make(old)

    return change


def declared(**how: Any) -> Change:
    """Return the change that replaces a dataset by one that is only declared."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        path = one(rng, paths(file, h5py.Dataset))
        old = file[path]
        shape, dtype = how.get("shape", old.shape), old.dtype
        del file[path]
        file.create_dataset(path, **{"dtype": dtype, **how, "shape": shape})

    return change


def item(make: Callable[[h5py.File, str], object]) -> Change:
    """Return the change that puts something else in the place of a dataset or a group."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        path = one(rng, paths(file, h5py.Dataset) + paths(file, h5py.Group))
        made = make(file, path)
        del file[path]
        file[path] = made

    return change


def missing(file: h5py.File, rng: np.random.Generator) -> None:
    """Remove a group or a dataset."""
    del file[one(rng, paths(file, h5py.Dataset) + paths(file, h5py.Group))]


def missing_attribute(file: h5py.File, rng: np.random.Generator) -> None:
    """Remove an attribute that is no option: an option that a file lacks has its default."""
    groups = [file[path].attrs for path in paths(file, h5py.Group) if path not in ("config", "libraries")]
    attributes = one(rng, [one for one in groups if len(one)])
    del attributes[one(rng, sorted(attributes))]


def option(file: h5py.File, rng: np.random.Generator) -> None:
    """Give an option a value out of its range or of another type."""
    options = file["config"].attrs
    name = one(rng, sorted(options))
    values = [-1, 2**63 - 1, -1.0, np.nan, 1e308, True, np.zeros((2, 2)), np.array([-1, 0]), h5py.Empty("f8")]
    values += ["no such", "a" * 5000, "\x1b[2J", "a\nb", "../../x", ":", "no.such:thing", 1j]
    options[name] = one(rng, values)


def extra(file: h5py.File, rng: np.random.Generator) -> None:
    """Add what no run has."""
    place = file[one(rng, ["/", *paths(file, h5py.Group)])]
    if rng.integers(2):
        place["more"] = np.zeros(3)
    else:
        place.attrs["more"] = 1


def cycle(file: h5py.File, rng: np.random.Generator) -> None:
    """Let a group contain itself, or the root."""
    group = one(rng, paths(file, h5py.Group))
    file[group]["again"] = file[one(rng, [group, "/"])]


def deep(file: h5py.File, rng: np.random.Generator) -> None:
    """Put hundreds of groups into each other."""
    file[one(rng, ["/", *paths(file, h5py.Group)])].create_group("/".join("g" * 300))


def no_rows(file: h5py.File, rng: np.random.Generator) -> None:
    """Empty all columns."""
    for path in paths(file, h5py.Dataset):
        if path.startswith(("history", "timing", "evaluations")):
            old = file[path][...]
            del file[path]
            file[path] = old[:0]


NUMBERS = (int, float, np.integer, np.floating)
CONTENT: dict[str, Change] = {  # a run could have written some of these
    "missing group or array": missing,
    "missing attribute": missing_attribute,
    "text for a number": attribute("text", *NUMBERS),
    "NaN for a number": attribute(np.nan, *NUMBERS),
    "infinite number": attribute(np.inf, *NUMBERS),
    "negative integer": attribute(-7, int, np.integer),
    "huge integer": attribute(2**62, int, np.integer),
    "number for a text": attribute(3.5, str),
    "list for an attribute": attribute(np.arange(3.0)),
    "nothing for an attribute": attribute(h5py.Empty("f8")),
    "control characters": attribute("\x1b]0;owned\x07\x1b[2J\r\nerror", str),
    "long text": attribute("a" * 1_000_000, str),
    "NaN in an array": array(lambda old: np.full(old.shape, np.nan)),
    "infinite array": array(lambda old: np.full(old.shape, np.inf)),
    "negative array": array(lambda old: np.full(old.shape, -5).astype(old.dtype)),
    "large integers in an array": array(lambda old: np.full(old.shape, 2**62).astype(old.dtype)),
    "integers for floats": array(lambda old: np.zeros(old.shape, "i1")),
    "longer array": array(lambda old: np.resize(old, (len(old) + 1, *old.shape[1:]))),
    "shorter array": array(lambda old: old[:-1]),
    "scalar array": array(lambda old: np.array(1).astype(old.dtype)),
    "more axes": array(lambda old: old[..., None]),
    "empty array": array(lambda old: np.zeros(0, old.dtype)),
    "shape of the state": array(lambda old: np.resize(old, (7, 2)), "state/"),
    "no rows": no_rows,
    "array for a group": item(lambda file, path: np.arange(4.0)),
    "group for an array": item(lambda file, path: file.create_group(None)),
    "option": option,
    "something more": extra,
}
STRUCTURE: dict[str, Change] = {  # no run's in any case
    "text of fixed length": attribute(np.bytes_(b"\xff\xfe"), str),
    "texts in an array": array(lambda old: np.full(old.shape, "text", h5py.string_dtype())),
    "complex array": array(lambda old: old.astype("c16")),
    "compound array": array(lambda old: np.zeros(old.shape, [("a", "f8"), ("b", "i4")])),
    "references": array(lambda old: np.full(3, h5py.Reference(), h5py.ref_dtype)),
    "2^40 elements": declared(shape=(2**40,)),
    "2^40 elements in chunks": declared(shape=(2**40,), chunks=True, compression="gzip"),
    "storage in another file": declared(external=[("/etc/passwd", 0, h5py.h5f.UNLIMITED)]),
    "soft link": item(lambda file, path: h5py.SoftLink("/history/mean")),
    "soft link to itself": item(lambda file, path: h5py.SoftLink(f"/{path}")),
    "external link": item(lambda file, path: h5py.ExternalLink("/dev/zero", "/")),
    "array under two names": item(lambda file, path: file["evaluations/generation"]),
    "circular link": cycle,
    "deep groups": deep,
    "named type": item(lambda file, path: np.dtype("f8")),
    "version as text": lambda file, rng: file.attrs.__setitem__("version", "two"),
    "no version": lambda file, rng: file.attrs.__delitem__("version"),
}
KINDS = CONTENT | STRUCTURE


def ends_in_one_line_or_works(program, words, run):
    """Assert that a command on a run refuses it in one line, or does its work."""
    said, code = "", 0
    try:
        code = program.main(SerialComm(), [word.format(run=run) for word in words])
    except UserError as error:
        said = str(error)
    assert (code, said.count("\n")) == (0, 0)
