"""Compile a function that only borrows arrays, without counting references to them.

Each count is an atomic instruction. numba leaves most of them out, but not around loops, and in the innermost
functions, called for every pixel of a line, they took far longer than the work itself.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from mpi_es.jit import compiled

F = TypeVar("F", bound=Callable[..., Any])


def borrowing(function: F) -> F:
    """Return the machine code of a function that makes no array, not even a part of one."""
    code: Any = compiled()(function)
    code.targetoptions["_nrt"] = False  # no "numba runtime", which counts; read when it compiles
    result: F = code
    return result
