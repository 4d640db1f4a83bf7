"""Write nested dicts as HDF5, and read files that may come from a stranger.

Links, types and the sizes of arrays are checked before a value is read; HDF5 does not tell the length of a
text before it reads it. h5py's low-level functions take a third of the time of its high-level ones for the
same file.
"""

import dataclasses
import io
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5l, h5o, h5p, h5s, h5t
from numpy.typing import NDArray

from mpi_es.errors import UserError, one_line
from mpi_es.run_file.description import to_plain

DEEPEST = 32  # nested groups; the state of a user's strategy may have nested dicts
LARGEST_RATIO = 100  # of all values to the file: a few bytes can declare any size; gzip shrinks a run 10-fold
LONG = 1000  # numbers of the longest list stored as an attribute, which HDF5 limits to 64 kB
_TEXT = h5py.string_dtype()
_NOTHING, _ONE = h5s.create(h5s.NULL), h5s.create(h5s.SCALAR)
_TIMELESS = h5p.create(h5p.DATASET_CREATE)
_TIMELESS.set_obj_track_times(False)  # the same content gives the same bytes


class Unfit(UserError):
    """The file is not a valid run file; the message says why."""


def written(content: dict[str, Any], block: int) -> io.BytesIO:
    """Return an HDF5 file with this content, after a user block of `block` bytes.

    Arrays and long lists become datasets, dicts and dataclasses groups, and everything else attributes.
    """
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", userblock_size=block) as file:
        _write(h5g.open(file.id, b"/"), content)
    return buffer


def _write(group: Any, content: dict[str, Any]) -> None:
    """Write the content of a group."""
    for name, value in content.items():
        key = name.encode()
        if dataclasses.is_dataclass(value):
            value = to_plain(value)
        if isinstance(value, dict):
            _write(h5g.create(group, key), value)
        elif value is None:
            h5a.create(group, key, h5t.IEEE_F64LE, _NOTHING)
        else:
            _write_value(group, key, value)


def _write_value(group: Any, key: bytes, value: Any) -> None:
    """Write a number, a text, a list of these or an array."""
    values = np.asarray(value, order="C")
    if values.dtype.kind in "UO":
        values = values.astype(_TEXT)
    stored, memory = _types_of(values.dtype)
    space = h5s.create_simple(values.shape) if values.ndim else _ONE
    is_array = isinstance(value, np.ndarray) or values.size > LONG
    if values.dtype.kind == "O" or not is_array:
        h5a.create(group, key, stored, space).write(values, memory)
        return
    dataset = h5d.create(group, key, stored, space, _TIMELESS)
    if values.size:
        dataset.write(h5s.ALL, h5s.ALL, values, memory)


@lru_cache(64)
def _types_of(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return HDF5's types, in the file and in memory, for numpy's type."""
    return h5t.py_create(dtype, logical=True), h5t.py_create(dtype)


def read(image: bytes) -> dict[str, Any]:
    """Return the groups of a file as nested dicts of arrays and plain values."""
    try:
        with h5py.File(io.BytesIO(image), "r") as file:
            return _Reader(LARGEST_RATIO * len(image)).group([], h5g.open(file.id, b"/"))
    except Unfit:
        raise
    except Exception as error:
        raise Unfit(f"HDF5 cannot read it: {one_line(error)[:200]}") from error


class _Reader:
    """Reads a file, and keeps what is known of it so far.

    Args:
        left: the bytes that its values may still take.
    """

    def __init__(self, left: int) -> None:
        self._left = left
        self._known: set[int] = set()  # addresses of objects

    def group(self, path: list[str], group: Any) -> dict[str, Any]:
        """Return the content of a group."""
        if len(path) > DEEPEST:
            raise Unfit(f"more than {DEEPEST} groups are nested")
        self._known.add(h5o.get_info(group).addr)
        content = dict(self._attributes(path, group))
        for link in group:
            inner = [*path, _text(link, path)]
            if group.links.get_info(link).type != h5l.TYPE_HARD:
                raise Unfit(f"{_shown(inner)} is a link to another place")
            item = h5o.open(group, link)
            if (address := h5o.get_info(item).addr) in self._known:
                raise Unfit(f"{_shown(inner)} occurs twice")
            self._known.add(address)
            if isinstance(item, h5g.GroupID):
                content[inner[-1]] = self.group(inner, item)
            elif isinstance(item, h5d.DatasetID):
                content[inner[-1]] = self._array(inner, item)
            else:
                raise Unfit(f"{_shown(inner)} is neither a group nor an array")
        return content

    def _array(self, path: list[str], item: Any) -> NDArray[Any]:
        """Return an array of numbers."""
        storage = item.get_create_plist()
        if storage.get_layout() == h5d.VIRTUAL or storage.get_external_count():
            raise Unfit(f"{_shown(path)} is not in the file")
        kind, space = item.get_type(), item.get_space()
        dtype, memory = _types_in(kind.encode())
        null = space.get_simple_extent_type() == h5s.NULL
        if kind.committed() or dtype.kind not in "biuf" or null:
            raise Unfit(f"{_shown(path)} is not an array of numbers")
        values = self._empty(path, space.shape, dtype)
        if values.size:
            item.read(h5s.ALL, h5s.ALL, values, memory)
        return values

    def _attributes(self, path: list[str], group: Any) -> Iterator[tuple[str, Any]]:
        """Yield the attributes of a group: numbers, texts, None, and arrays of numbers or texts."""
        for index in range(h5a.get_num_attrs(group)):
            attribute = h5a.open(group, index=index)
            name = _text(attribute.name, path)
            kind, space = attribute.get_type(), attribute.get_space()
            dtype, memory = _types_in(kind.encode())
            null = space.get_simple_extent_type() == h5s.NULL
            text = dtype.kind == "O" and h5py.check_string_dtype(dtype)
            if kind.committed() or not (text or dtype.kind in "biuf") or not (null or len(space.shape) < 2):
                raise Unfit(f"{_shown([*path, name])} is not a number, a text or a list of them")
            if null:
                yield name, None
                continue
            values = self._empty([*path, name], space.shape, dtype)
            attribute.read(values, memory)
            place = [*path, name]
            if values.ndim:
                yield name, np.array([_text(one, place) for one in values], object) if text else values
            else:
                yield name, _text(values.item(), place) if text else values.item()

    def _empty(self, path: list[str], shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an empty array for values of the file; refuse a size that the file cannot hold."""
        self._left -= math.prod(shape) * dtype.itemsize
        if self._left < 0:
            raise Unfit(f"{_shown(path)} is too large for the file")
        return np.empty(shape, dtype)


@lru_cache(64)
def _types_in(encoded: bytes) -> tuple[np.dtype[Any], Any]:
    """Return numpy's type and HDF5's in memory for an encoded type of a file; cached, since this is slow."""
    dtype = h5t.decode(encoded).dtype
    return dtype, h5t.py_create(dtype)


def _text(value: Any, path: list[str]) -> str:
    """Return a text of the file."""
    try:
        return value.decode() if isinstance(value, bytes) else str(value).encode().decode()
    except UnicodeError:
        raise Unfit(f"a text in {_shown(path)} is not UTF-8") from None


def _shown(path: list[str]) -> str:
    """Return a path as it is printed."""
    return ascii("/" + "/".join(path))[1:-1][:200]
