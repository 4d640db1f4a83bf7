"""Forged run files: HDF5 with the right checksum, and a content that no run writes.

`forged(kind, image, seed)` returns a file made from a real one; the seed chooses what is changed. The kinds
of KINDS leave HDF5 intact, those of BYTES change the file's bytes. Both are sealed again.
"""

import hashlib
import io
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

BLOCK = 512
DEEP = 3000  # groups, one in another
HUGE = 2**40  # elements
PIECE = 2**24  # numbers of a chunk that compresses to almost nothing
PIECES = 48  # together 3 GB

Change = Callable[[h5py.File, np.random.Generator], None]


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
    if kind in BYTES:
        return seal(BYTES[kind](image, rng))
    return changed(image, lambda file: KINDS[kind](file, rng))


# What a file holds


def groups(file: h5py.File) -> list[str]:
    """Return the paths of all groups."""
    found: list[str] = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Group) else None)
    return found


def datasets(file: h5py.File) -> list[str]:
    """Return the paths of all datasets."""
    found: list[str] = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    return found


def attributes(file: h5py.File, *kinds: type) -> list[tuple[str, str]]:
    """Return group and name of the attributes of these types, of all without one."""
    chosen = []
    for group in groups(file):
        for name, value in file[group].attrs.items():
            if not kinds or isinstance(value, kinds):
                chosen.append((group, name))
    return chosen


def one(rng: np.random.Generator, choices: list) -> object:
    """Return one of several."""
    return choices[int(rng.integers(len(choices)))]


def replaced(file: h5py.File, path: str, data: object, **how: object) -> None:
    """Put another dataset in the place of one."""
    del file[path]
    file.create_dataset(path, data=data, **how)


NUMBERS = (int, float, np.integer, np.floating)


def _attribute(value: object, *kinds: type) -> Change:
    """Return the change that gives an attribute of some types another value."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        group, name = one(rng, attributes(file, *kinds))
        file[group].attrs[name] = value

    return change


def _dataset(make: Callable[[np.ndarray], object], among: str = "") -> Change:
    """Return the change that replaces a dataset by what is made of it."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        path = one(rng, [path for path in datasets(file) if among in path] or datasets(file))
        replaced(file, path, make(file[path][...]))

    return change


def _link(make: Callable[[h5py.File, str], object]) -> Change:
    """Return the change that puts something else in the place of a dataset or a group."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        path = one(rng, datasets(file) + groups(file))
        made = make(file, path)
        del file[path]
        file[path] = made

    return change


def missing_group(file: h5py.File, rng: np.random.Generator) -> None:
    """Remove a group."""
    del file[one(rng, groups(file))]


def missing_column(file: h5py.File, rng: np.random.Generator) -> None:
    """Remove a dataset."""
    del file[one(rng, datasets(file))]


def missing_attribute(file: h5py.File, rng: np.random.Generator) -> None:
    """Remove an attribute that is no option: an option that a file lacks has its default."""
    group, name = one(rng, [place for place in attributes(file) if place[0] not in ("config", "libraries")])
    del file[group].attrs[name]


def shape_of(*names: str) -> Change:
    """Return the change of the shape of one of these datasets."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        paths = [path for path in datasets(file) if path.rpartition("/")[2] in names]
        path = one(rng, paths or datasets(file))
        old = file[path][...]
        shapes = [tuple(n + 1 for n in old.shape), (*old.shape, 2), (0,), (7,), ()]
        shape = one(rng, [shape for shape in shapes if shape != old.shape])
        replaced(file, path, np.resize(old, shape).astype(old.dtype))

    return change


def huge(file: h5py.File, rng: np.random.Generator, **how: object) -> None:
    """Declare 2^40 elements, none of which is stored."""
    path = one(rng, datasets(file))
    shape, dtype = file[path].shape, file[path].dtype
    del file[path]
    file.create_dataset(path, (HUGE, *shape[1:]), dtype, **how)


def compressed(file: h5py.File, rng: np.random.Generator) -> None:
    """Store 3 GB of zeros in some 3 MB."""
    path = one(rng, [name for name in datasets(file) if name.startswith(("history", "timing", "best"))])
    del file[path]
    made = file.create_dataset(path, (PIECES * PIECE,), "f4", chunks=(PIECE,), compression="gzip")
    piece = zlib.compress(bytes(4 * PIECE), 9)
    for number in range(PIECES):
        made.id.write_direct_chunk((number * PIECE,), piece)


def external(storage: str) -> Change:
    """Return the change that moves a dataset's storage into another file."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        path = one(rng, datasets(file))
        old = file[path]
        shape, dtype = old.shape or (1,), old.dtype
        size = max(1, int(np.prod(shape))) * dtype.itemsize
        del file[path]
        file.create_dataset(path, shape, dtype, external=[(storage, 0, size)])

    return change


def fifo(directory: str = "/tmp") -> str:
    """Return the path of a pipe into which nobody writes."""
    path = Path(directory, f"mpi_es-forged-{os.getuid()}.fifo")
    if not path.exists():
        os.mkfifo(path)
    return str(path)


def external_fifo(file: h5py.File, rng: np.random.Generator) -> None:
    """Move a dataset's storage into a pipe."""
    external(fifo())(file, rng)


def virtual(file: h5py.File, rng: np.random.Generator) -> None:
    """Make a dataset a view of another file's."""
    path = one(rng, datasets(file))
    shape, dtype = file[path].shape or (1,), file[path].dtype
    layout = h5py.VirtualLayout(shape=shape, dtype=dtype)
    layout[...] = h5py.VirtualSource("/dev/zero", "x", shape=shape)
    del file[path]
    file.create_virtual_dataset(path, layout)


def cycle(file: h5py.File, rng: np.random.Generator) -> None:
    """Let a group contain itself, or one above it."""
    group = str(one(rng, groups(file)))
    above = group.rpartition("/")[0] if rng.integers(2) else group
    file[group]["again"] = file[above or "/"]


def twice(file: h5py.File, rng: np.random.Generator) -> None:
    """Give an array a second name."""
    first, second = rng.choice(datasets(file), 2, replace=False)
    del file[first]
    file[first] = file[second]


def deep(file: h5py.File, rng: np.random.Generator) -> None:
    """Put thousands of groups into each other."""
    place = file[one(rng, ["/", *groups(file)])]
    for _ in range(DEEP):
        place = place.create_group("g")


def named_type(file: h5py.File, rng: np.random.Generator) -> None:
    """Put a type in the place of a dataset or a group, or give a dataset a named type."""
    path = one(rng, datasets(file) + groups(file))
    old = file[path]
    if isinstance(old, h5py.Dataset) and rng.integers(2):
        file["a_type"] = old.dtype
        values = old[...]
        del file[path]
        file.create_dataset(path, data=values, dtype=file["a_type"])
        return
    del file[path]
    file[path] = np.dtype("f8")


def dataset_for_group(file: h5py.File, rng: np.random.Generator) -> None:
    """Put an array in the place of a group."""
    replaced(file, str(one(rng, groups(file))), np.arange(4.0))


def group_for_dataset(file: h5py.File, rng: np.random.Generator) -> None:
    """Put a group in the place of an array."""
    path = one(rng, datasets(file))
    del file[path]
    file.create_group(path)


def attribute_for_dataset(file: h5py.File, rng: np.random.Generator) -> None:
    """Put a number in the place of an array."""
    group, _, name = str(one(rng, datasets(file))).rpartition("/")
    del file[group][name]
    file[group].attrs[name] = 1.5


def option(make: Callable[[object, np.random.Generator], object]) -> Change:
    """Return the change of one option of the config."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        options = file["config"].attrs
        name = one(rng, sorted(options))
        options[name] = make(options[name], rng)

    return change


def out_of_range(value: object, rng: np.random.Generator) -> object:
    """Return a value of the same type that few options allow."""
    if isinstance(value, bool | np.bool_):
        return 5
    if isinstance(value, int | np.integer):
        return int(one(rng, [-1, -(2**63), 2**63 - 1]))
    if isinstance(value, float | np.floating):
        return float(one(rng, [-1.0, np.nan, np.inf, 1e308]))
    if isinstance(value, str):
        return one(rng, ["no such", "a" * 5000, "\x1b[2J", "a\nb", "../../x", ":", "no.such:thing"])
    return one(rng, [np.array([-1, 0]), np.array(["x", "=", "a=1"], dtype=h5py.string_dtype())])


def other_type(value: object, rng: np.random.Generator) -> object:
    """Return a value of another type."""
    others = [1, 1.5, "text", True, np.zeros(3), np.zeros((2, 2)), h5py.Empty("f8"), np.complex128(1j)]
    return one(rng, [other for other in others if type(other) is not type(value)])


def unknown_option(file: h5py.File, rng: np.random.Generator) -> None:
    """Add an option that there is not."""
    file["config"].attrs["no_such_option"] = 1


def extra(file: h5py.File, rng: np.random.Generator) -> None:
    """Add what no run has."""
    place = file[one(rng, ["/", *groups(file)])]
    if rng.integers(2):
        place.create_dataset("more", data=np.zeros(3))
    else:
        place.attrs["more"] = 1


def many_attributes(file: h5py.File, rng: np.random.Generator) -> None:
    """Add hundreds of attributes to a group."""
    place = file[one(rng, groups(file))]
    for number in range(500):
        place.attrs[f"a{number}"] = number


def long_text(file: h5py.File, rng: np.random.Generator) -> None:
    """Make a text of 10 MB."""
    group, name = one(rng, attributes(file, str))
    file[group].attrs[name] = "a" * 10_000_000


def control_characters(file: h5py.File, rng: np.random.Generator) -> None:
    """Put what a terminal obeys into a text."""
    group, name = one(rng, attributes(file, str))
    file[group].attrs[name] = "\x1b]0;owned\x07\x1b[2J\r\nerror"


def invalid_utf8(file: h5py.File, rng: np.random.Generator) -> None:
    """Make a text that is not UTF-8."""
    group, name = one(rng, attributes(file, str))
    file[group].attrs.create(name, b"\xff\xfe\x80", dtype=h5py.string_dtype())


def reference(file: h5py.File, rng: np.random.Generator) -> None:
    """Make an array of references to objects."""
    path = one(rng, datasets(file))
    replaced(file, str(path), np.array([file.ref] * 3, dtype=h5py.ref_dtype), dtype=h5py.ref_dtype)


def version(value: object) -> Change:
    """Return the change of the format's version inside the file."""

    def change(file: h5py.File, rng: np.random.Generator) -> None:
        if value is None:
            del file.attrs["version"]
        else:
            file.attrs["version"] = value

    return change


def no_rows(file: h5py.File, rng: np.random.Generator) -> None:
    """Empty all columns."""
    for path in datasets(file):
        if path.startswith(("history", "timing", "evaluations")):
            old = file[path]
            replaced(file, path, np.zeros((0, *old.shape[1:]), old.dtype))


KINDS: dict[str, Change] = {
    "missing group": missing_group,
    "missing column": missing_column,
    "missing attribute": missing_attribute,
    "text for a number": _attribute("text", *NUMBERS),
    "NaN for a number": _attribute(np.nan, *NUMBERS),
    "infinite number": _attribute(np.inf, *NUMBERS),
    "negative integer": _attribute(-7, int, np.integer),
    "huge integer": _attribute(2**62, int, np.integer),
    "number for a text": _attribute(3.5, str),
    "array for an attribute": _attribute(np.arange(3.0)),
    "nothing for an attribute": _attribute(h5py.Empty("f8")),
    "control characters": control_characters,
    "invalid UTF-8": invalid_utf8,
    "long text": long_text,
    "many attributes": many_attributes,
    "texts in an array": _dataset(lambda old: np.full(old.shape, "text", h5py.string_dtype())),
    "NaN in an array": _dataset(lambda old: np.full(old.shape, np.nan)),
    "infinite array": _dataset(lambda old: np.full(old.shape, np.inf)),
    "negative array": _dataset(lambda old: np.full(old.shape, -5).astype(old.dtype)),
    "large integers in an array": _dataset(lambda old: np.full(old.shape, 2**62).astype(old.dtype)),
    "integers for floats": _dataset(lambda old: np.resize(old, old.shape).astype("i1")),
    "complex array": _dataset(lambda old: old.astype("c16")),
    "compound array": _dataset(lambda old: np.zeros(old.shape, [("a", "f8"), ("b", "i4")])),
    "longer column": _dataset(lambda old: np.resize(old, (len(old) + 1 if old.ndim else 3, *old.shape[1:]))),
    "shorter column": _dataset(lambda old: old[:-1] if old.ndim else old),
    "scalar array": _dataset(lambda old: np.array(1).astype(old.dtype)),
    "more axes": _dataset(lambda old: old[..., None]),
    "empty array": _dataset(lambda old: np.zeros(0, old.dtype)),
    "no rows": no_rows,
    "shape of C": shape_of("sm.C", "sm.B", "sm.D", "mean", "centre", "first", "theta"),
    "shape of the normalisation": shape_of("normalisation", "scaling"),
    "shape of the last candidate": shape_of("candidate"),
    "shape of the sums": shape_of("total", "squares"),
    "dataset for a group": dataset_for_group,
    "group for a dataset": group_for_dataset,
    "attribute for a dataset": attribute_for_dataset,
    "2^40 elements": huge,
    "2^40 elements in chunks": lambda file, rng: huge(file, rng, chunks=True, compression="gzip"),
    "3 GB compressed": compressed,
    "soft link": _link(lambda file, path: h5py.SoftLink("/history/mean")),
    "broken soft link": _link(lambda file, path: h5py.SoftLink("/nowhere")),
    "soft link to itself": _link(lambda file, path: h5py.SoftLink(f"/{path}")),
    "external link": _link(lambda file, path: h5py.ExternalLink("/dev/zero", "/")),
    "external link to a fifo": _link(lambda file, path: h5py.ExternalLink(fifo(), "/")),
    "circular link": cycle,
    "array under two names": twice,
    "deep groups": deep,
    "storage in /dev/zero": external("/dev/zero"),
    "storage in a fifo": external_fifo,
    "storage in another file": external("/etc/passwd"),
    "virtual array": virtual,
    "named type": named_type,
    "references": reference,
    "option out of range": option(out_of_range),
    "option of another type": option(other_type),
    "unknown option": unknown_option,
    "something more": extra,
    "no version": version(None),
    "version as text": version("two"),
    "version as array": version(np.arange(3)),
}


# Bytes


def metadata(image: bytes) -> np.ndarray:
    """Return the places (n,) of the bytes that are no array's."""
    free = np.ones(len(image), bool)
    free[:BLOCK] = False
    with h5py.File(io.BytesIO(image)) as file:
        for path in datasets(file):
            stored = file[path].id
            if begin := stored.get_offset():
                free[begin : begin + stored.get_storage_size()] = False
    return np.flatnonzero(free)


def flipped(image: bytes, rng: np.random.Generator) -> bytes:
    """Change one to four bytes of the metadata."""
    made = bytearray(image)
    for place in rng.choice(metadata(image), int(rng.integers(1, 5))):
        made[place] = one(rng, [made[place] ^ (1 << int(rng.integers(8))), int(rng.integers(256)), 255, 0])
    return bytes(made)


def truncated(image: bytes, rng: np.random.Generator) -> bytes:
    """Cut the end off."""
    return image[: int(rng.integers(BLOCK, len(image)))]


def of_two(image: bytes, rng: np.random.Generator) -> bytes:
    """Copy a piece of the file over another."""
    made, size = bytearray(image), int(rng.integers(8, 400))
    source, place = rng.integers(BLOCK, len(image) - size, 2)
    made[place : place + size] = image[source : source + size]
    return bytes(made)


def repeated_text(image: bytes, rng: np.random.Generator) -> bytes:
    """Make one text of a megabyte the value of thousands of texts of an option."""
    several, long = [f"{number:06d}=" for number in range(3000)], "a" * 1_000_000

    def change(file: h5py.File) -> None:
        file["config"].attrs["env_options"] = [long, *several]

    made = changed(image, change)
    length = len(long).to_bytes(4, "little")
    begin = made.index(length + made[made.index(length) + 4 : made.index(length) + 16])
    reference = made[begin : begin + 16]
    copy = bytearray(made)
    copy[begin : begin + 16 * len(several)] = reference * len(several)
    return bytes(copy)


BYTES: dict[str, Callable[[bytes, np.random.Generator], bytes]] = {
    "flipped metadata": flipped,
    "truncated": truncated,
    "pieces of itself": of_two,
    "one text thousands of times": repeated_text,
}
ALL = (*KINDS, *BYTES)
