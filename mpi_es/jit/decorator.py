"""Compile a function to machine code, with the options that all our functions share."""

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite.binding import get_host_cpu_name
from numba.core import config, event

from mpi_es.jit import cache
from mpi_es.jit.callee import CalleeCompiler
from mpi_es.jit.entry import EntryCompiler
from mpi_es.jit.listener import announce_compilation

F = TypeVar("F", bound=Callable[..., Any])
_CHOOSING = threading.Lock()  # numba has one cache directory for all threads


def compiled(
    *, fastmath: bool | set[str] = False, inline: bool = False, borrowing: bool = False
) -> Callable[[F], F]:
    """Return a decorator that compiles to machine code, cached by numba and run without the GIL.

    A division by zero gives infinity, as in numpy.

    Args:
        inline: copy the function's code into its callers before compilation.
        borrowing: the function makes no array and no view, so numba need not count references to its
            arguments. Each count is an atomic instruction; numba omits most of them, but not
            those around loops.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    if borrowing:
        options["_nrt"] = False  # no "numba runtime", which counts references

    def decorated(function: F) -> F:
        result: Any = Compiled(function, options)
        if inline:
            result = numba.njit(inline="always", **options)(function)
        return cast(F, result)

    return decorated


class Compiled:
    """A function in two forms, for Python and for compiled code; each is made when it is first needed."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options = function, options

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code."""
        try:
            return self.entry(*arguments)
        except OSError:  # numba compiled it, but could not write it, as on a full disk
            return self.entry(*arguments)

    @functools.cached_property
    def entry(self) -> Any:
        """The function for Python, with all that it calls."""
        options = self.options | {"no_cfunc_wrapper": True, "pipeline_class": EntryCompiler}
        folder = cache.folder(self)
        if folder:
            # Nodes with other processors may share the file system.
            with _kept_in(folder / get_host_cpu_name()), contextlib.suppress(RuntimeError):
                entry = numba.njit(cache=True, **options)(self.function)
                # In any other folder numba would find code of other functions.
                if folder in Path(entry.stats.cache_path).parents:
                    return entry
        return numba.njit(**options)(self.function)

    @functools.cached_property
    def callee(self) -> Any:
        """The function for compiled code."""
        wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return numba.njit(pipeline_class=CalleeCompiler, **wrappers, **self.options)(self.function)

    def __reduce__(self) -> Any:
        """Pickle by name."""
        return _named, (self.function.__module__, self.function.__qualname__)

    @property
    def _numba_type_(self) -> Any:  # numba's protocol: the type of this object in compiled code
        return numba.typeof(self.callee)


def _named(module: str, name: str) -> Any:
    """Return the function of that name; refuse a nested one, which numba pickles only to compare it."""
    found = getattr(sys.modules.get(module), name, None)
    if isinstance(found, Compiled):
        return found
    raise TypeError(f"{module}.{name}: expected a name to import, got a pickled function")


@contextlib.contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """Have numba cache in that folder the functions decorated inside the block."""
    with _CHOOSING:
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            yield
        finally:
            config.CACHE_DIR = before


class _Announcer(event.Listener):
    """Announces each compilation; loading from the cache is none."""

    def on_start(self, event: Any) -> None:
        announce_compilation()

    def on_end(self, event: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Announcer())
