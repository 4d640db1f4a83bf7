"""Compile a function to machine code, with the options that all of ours share."""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

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
            # By itself numba compiles anew when the function's own file changes, though the machine code
            # holds what the function calls in other modules too.
            code._cache._cache_file._source_stamp = _sources()
        result: F = code
        return result

    return decorated


@functools.cache
def _sources() -> str:
    """Return what changes whenever a module of this package does."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
