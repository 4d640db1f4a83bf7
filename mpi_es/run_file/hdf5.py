"""Read an HDF5 file that a stranger may have made: nothing is read before its size and storage are known.

libhdf5 itself crashes on some damaged files, and loops on others. So a forked process describes the file. It
may open no other file, has limits on memory and time, and reads no array. Arrays are then read from the
places in the file that the description names, without libhdf5.
"""

import contextlib
import json
import math
import os
import resource
import signal
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from typing import Any, NoReturn

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5l, h5o, h5s, h5t
from numpy.typing import NDArray

DEEPEST = 32  # groups in each other; a strategy of the user's may have a state of nested dicts
_MEMORY = 2**28  # bytes that a description may take, next to the size of the file
_SECONDS = 3.0  # of CPU time that one object may take; a real one takes less than a millisecond
_LONGEST = 2**24  # bytes of a description, next to four times the size of the file
_NUMBERS = (h5t.INTEGER, h5t.FLOAT, h5t.ENUM)


class Unfit(Exception):
    """A file that no run file is; the text says why."""


@dataclass(frozen=True, eq=False)
class Stored:
    """An array in a file, which is read when `values` is first used."""

    file: BufferedReader
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @cached_property
    def values(self) -> NDArray[Any]:
        """The array."""
        values = np.empty(self.shape, self.dtype)
        if values.size:
            self.file.seek(self.offset)
            memory: Any = values.reshape(-1).view(np.uint8)
            if self.file.readinto(memory) != values.nbytes:
                raise Unfit("it ends within an array")
            if self.dtype == bool and values.view(np.uint8).max() > 1:
                raise Unfit("a truth value is neither 0 nor 1")
        return values


def described(file: BufferedReader) -> dict[str, Any]:
    """Return the groups of a file as nested dicts of plain values and of arrays that are not read yet."""
    size = os.fstat(file.fileno()).st_size
    source, sink = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which the new process has not
        process = os.fork()
    if process == 0:
        _describe_and_exit(file, size, sink)
    os.close(sink)
    try:
        with open(source, "rb") as pipe:
            text = pipe.read(_LONGEST + 4 * size)
            if pipe.read(1):
                raise Unfit("its texts are longer than the file")
    except BaseException:
        os.kill(process, signal.SIGKILL)
        raise
    finally:
        _, code = os.waitpid(process, 0)
    if code != 0:
        raise Unfit("HDF5 cannot read it")
    return _tree(file, [json.loads(line) for line in text.splitlines()])


def _tree(file: BufferedReader, entries: list[Any]) -> dict[str, Any]:
    """Return the nested dicts of the entries of a description."""
    root: dict[str, Any] = {}
    for path, kind, *rest in entries:
        group = root
        for name in path[:-1]:
            group = group[name]
        if kind == "refused":
            raise Unfit(rest[0])
        if kind == "array":
            dtype, shape, offset = rest
            group[path[-1]] = Stored(file, np.dtype(dtype), tuple(shape), offset)
        elif kind == "group":
            group.update({path[-1]: {}} if path else {})
        else:
            value = rest[0]
            group[path[-1]] = np.array(value, _kind_of(value)) if isinstance(value, list) else value
    return root


def _kind_of(values: list[Any]) -> type:
    """Return the type of the array of an attribute's values."""
    if any(isinstance(value, str) for value in values):
        return object
    return int if values and all(type(value) is int for value in values) else float


# In the forked process


def _describe_and_exit(file: BufferedReader, size: int, sink: int) -> NoReturn:
    """Write the description into a pipe, and end this process; any exception is a refusal."""
    try:
        _limit(size)
        with open(sink, "w", encoding="utf-8") as pipe:
            try:
                with h5py.File(file, "r") as opened:
                    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
                    for entry in _entries(opened, size):
                        pipe.write(json.dumps(entry) + "\n")
                        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            except Unfit as error:
                pipe.write(json.dumps([[], "refused", str(error)]) + "\n")
    except BaseException:
        os._exit(1)
    os._exit(0)


def _limit(size: int) -> None:
    """Limit what this process may do."""
    for number in (signal.SIGPROF, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):  # a system without /proc
        with open("/proc/self/statm", encoding="utf-8") as pages:
            taken = int(pages.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + _MEMORY + size,) * 2)


def _entries(opened: h5py.File, size: int) -> Iterator[list[Any]]:
    """Yield path, kind and value of every group, attribute and array."""
    known = {_address(opened.id)}
    waiting: deque[tuple[list[str], Any]] = deque([([], h5g.open(opened.id, b"/"))])
    left = size  # bytes of the file that no array has taken yet
    while waiting:
        path, group = waiting.popleft()
        yield [path, "group"]
        for name, value in _attributes(path, group):
            yield [[*path, name], "value", value]
        for link in group:
            inner = [*path, _text(link, path)]
            if group.links.get_info(link).type != h5l.TYPE_HARD:
                raise Unfit(f"{_shown(inner)} is a link to elsewhere")
            item = h5o.open(group, link)
            if (address := _address(item)) in known:
                raise Unfit(f"{_shown(inner)} is there twice")
            known.add(address)
            if isinstance(item, h5g.GroupID):
                if len(inner) > DEEPEST:
                    raise Unfit(f"more than {DEEPEST} groups are in each other")
                waiting.append((inner, item))
            elif isinstance(item, h5d.DatasetID):
                dtype, shape, offset = _array(inner, item, size)
                left -= math.prod(shape) * np.dtype(dtype).itemsize
                if left < 0:
                    raise Unfit("arrays overlap")
                yield [inner, "array", dtype, shape, offset]
            else:
                raise Unfit(f"{_shown(inner)} is neither a group nor an array")


def _array(path: list[str], item: Any, size: int) -> tuple[str, tuple[int, ...], int]:
    """Return type, shape and place of an array, which lies in the file in one piece."""
    kind, space, how = item.get_type(), item.get_space(), item.get_create_plist()
    if kind.committed() or kind.get_class() not in _NUMBERS or space.get_simple_extent_type() == h5s.NULL:
        raise Unfit(f"{_shown(path)} is no array of numbers")
    dtype = kind.dtype
    if dtype.kind not in "biuf" or h5t.py_create(dtype, logical=True) != kind:
        raise Unfit(f"{_shown(path)} is no array of numbers as numpy has them")
    shape = tuple(map(int, space.shape))
    length = math.prod(shape) * dtype.itemsize
    if how.get_layout() != h5d.CONTIGUOUS or how.get_external_count():
        raise Unfit(f"{_shown(path)} does not lie in one piece in the file")
    if not length:
        return dtype.str, shape, 0
    offset = item.get_offset()
    if item.get_storage_size() != length or offset is None or not 0 < offset <= size - length:
        raise Unfit(f"{_shown(path)} is not in the file")
    return dtype.str, shape, int(offset)


def _attributes(path: list[str], group: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a group: numbers, texts, None, and lists of these."""
    for index in range(h5a.get_num_attrs(group)):
        attribute = h5a.open(group, index=index)
        name = _text(attribute.name, path)
        kind, space = attribute.get_type(), attribute.get_space()
        extent = space.get_simple_extent_type()
        if kind.committed() or (extent == h5s.SIMPLE and space.get_simple_extent_ndims() > 1):
            raise Unfit(f"{_shown([*path, name])} is no number, text or list of them")
        if extent == h5s.NULL:
            yield name, None
            continue
        text = kind.get_class() == h5t.STRING and kind.is_variable_str()
        dtype = kind.dtype
        if not text and dtype.kind not in "biuf":
            raise Unfit(f"{_shown([*path, name])} is no number, text or list of them")
        values = np.zeros(space.shape, dtype)
        attribute.read(values)
        yield name, _decoded(values.tolist(), [*path, name]) if text else values.tolist()


def _decoded(value: Any, path: list[str]) -> Any:
    """Return bytes, or a list of them, as texts."""
    return [_text(one, path) for one in value] if isinstance(value, list) else _text(value, path)


def _text(value: Any, path: list[str]) -> str:
    """Return a text of the file."""
    try:
        return value.decode() if isinstance(value, bytes) else str(value).encode().decode()
    except UnicodeError:
        raise Unfit(f"a text in {_shown(path)} is not UTF-8") from None


def _address(item: Any) -> int:
    return int(h5o.get_info(item).addr)


def _shown(path: list[str]) -> str:
    """Return a path as it is printed."""
    return ascii("/" + "/".join(path))[1:-1][:200]
