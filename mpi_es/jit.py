"""Compile a function to machine code, with the options that all of ours share."""

from collections.abc import Callable
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
        compiled_function: F
        try:
            compiled_function = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no directory to keep it in: compilation.py tells
            compiled_function = numba.njit(**options)(function)
        return compiled_function

    return decorated
