"""Compile a function to machine code, with the options that all of ours share."""

import contextlib
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite.binding import get_host_cpu_name
from numba.core.caching import IndexDataCacheFile

F = TypeVar("F", bound=Callable[..., Any])


def compiled(*, fastmath: bool | set[str] = False, inline: bool = False) -> Callable[[F], F]:
    """Return a decorator: machine code that is kept in numba's cache and runs without the interpreter's lock.

    A division by zero gives infinity, as in numpy.

    Args:
        inline: into its callers, before anything is compiled.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    options["inline"] = "always" if inline else "never"

    def decorated(function: F) -> F:
        code: Any
        try:
            code = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no directory to keep it in: compilation.py tells
            code = numba.njit(**options)(function)
        else:
            _renew(code._cache)
        result: F = code
        return result

    return decorated


def _renew(cache: Any) -> None:
    """Let a function's cache hold only while no module of this package changes.

    By itself numba compiles anew when the function's own file changes, though the machine code holds what it
    calls in other modules too; and an old file may name types that are gone, which numba cannot read.
    """
    path, base = cache._cache_path, cache._impl.filename_base
    _sweep(Path(path))
    # By type of processor, or two nodes of one file system might write the same file.
    name = f"{base}.{_sources()}.{get_host_cpu_name()}"
    cache._cache_file = _CacheFile(path, name, cache._impl.locator.get_source_stamp())


class _CacheFile(IndexDataCacheFile):
    """numba's file, on a disk that may be full: then the code is compiled again next time."""

    def save(self, key: Any, data: Any) -> None:
        """Write a function's machine code."""
        with contextlib.suppress(OSError):
            super().save(key, data)


@functools.cache
def _sweep(directory: Path) -> None:
    """Remove machine code of other states of this package."""
    for pattern in ("*.nbi", "*.nbc"):
        for path in directory.glob(pattern):
            if _sources() not in path.name:
                with contextlib.suppress(OSError):  # another rank was first
                    path.unlink()


@functools.cache
def _sources() -> str:
    """Return what changes whenever a module of this package does."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
