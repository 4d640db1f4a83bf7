"""A digest of what a function is compiled from: its own code, all that it calls, and the constants it reads.

It is of the functions as they are in this process, whatever their files have become since they were imported.
"""

import functools
import hashlib
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np

_COMPILER = Path(__file__).parent  # our passes, intrinsics and overloads
_CONSTANTS = (int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype)
_FUNCTION_OF = ("function", "py_func", "_defn", "_pyfunc", "_dispatcher")  # of ours, and of numba's kinds


def digest(function: Any) -> str:
    """Return the digest of a compiled function, the same in every process."""
    parts = [numba.__version__, _of_files(_COMPILER), *_parts(function, {})]
    return _hash("\0".join(parts).encode())


def _parts(value: Any, seen: dict[int, int]) -> Iterator[str]:
    """Yield texts that say what a value is in machine code.

    Args:
        seen: the places, by id, of functions that were visited.
    """
    if isinstance(value, _CONSTANTS):
        yield repr(value)
    elif isinstance(value, tuple | list):
        yield f"{type(value).__name__}{len(value)}"
        for one in value:
            yield from _parts(one, seen)
    elif isinstance(value, set | frozenset):
        yield repr(sorted(map(repr, value)))
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {_hash(value.tobytes())}"
    elif isinstance(value, numba.types.Type):
        yield value.name.partition(" at 0x")[0]
    elif isinstance(value, CodeType):
        yield f"{_hash(value.co_code)} {value.co_names}"
        yield from _parts(value.co_consts, seen)
    elif isinstance(function := _function_of(value), FunctionType):
        yield from _of_function(value, function, seen)
    else:
        kind = value if isinstance(value, type) else type(value)
        name = value if isinstance(value, Enum) else getattr(value, "__name__", "")
        yield f"{kind.__qualname__} {name}"
        if file := getattr(sys.modules.get(kind.__module__), "__file__", None):  # of an Enum, a jitclass
            yield _of_files(Path(file))


def _function_of(value: Any) -> Any:
    """Return the Python function that a compiled one is made from; any other value unchanged."""
    inner = next((getattr(value, name) for name in _FUNCTION_OF if hasattr(value, name)), None)
    return value if inner is None else _function_of(inner)


def _of_function(value: Any, function: FunctionType, seen: dict[int, int]) -> Iterator[str]:
    """Yield the texts of a function: its options, code and defaults, and of all that the code names."""
    if id(function) in seen:
        yield f"function {seen[id(function)]}"
        return
    seen[id(function)] = len(seen)
    options = getattr(value, "options", None) or getattr(value, "targetoptions", {})
    yield from _parts(sorted(options.items()), seen)
    if value is function:  # not compiled: numba calls an overload of it, which is often in the same file
        yield _of_files(Path(function.__code__.co_filename))
    yield from _parts(function.__code__, seen)
    yield from _parts(function.__defaults__ or (), seen)
    for one in (*_named(function), *(cell.cell_contents for cell in function.__closure__ or ())):
        yield from _parts(one, seen)


def _named(function: FunctionType) -> list[Any]:
    """Return the globals that a function's code names, also in modules, and in functions that it defines."""
    names = [*_names(function.__code__)]
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    modules = [one for one in found if isinstance(one, ModuleType)]
    for module in modules:
        inside = [vars(module)[name] for name in names if name in vars(module)]
        modules += [one for one in inside if isinstance(one, ModuleType) and one not in modules]
        found += inside
    return [one for one in found if not isinstance(one, ModuleType)]


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in a code and in those that it defines."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@functools.cache
def _of_files(place: Path) -> str:
    """Return a hash of a file, or of the Python files in a folder."""
    files = sorted(place.glob("*.py")) if place.is_dir() else [place] if place.exists() else []
    return _hash(b"".join(path.read_bytes() for path in files))


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
