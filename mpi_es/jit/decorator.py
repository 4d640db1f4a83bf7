"""Compile a function to machine code, with the options that all our functions share."""

import ast
import contextlib
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite.binding import get_host_cpu_name
from numba.core.caching import IndexDataCacheFile

from mpi_es.jit.callee import CalleeCompiler
from mpi_es.jit.listener import announce_compilation

_ROOT = Path(__file__).parents[1]  # the folder of mpi_es, from whose modules machine code is made
_PACKAGE = __name__.partition(".")[0]
F = TypeVar("F", bound=Callable[..., Any])


def compiled(
    *, fastmath: bool | set[str] = False, inline: bool = False, borrowing: bool = False
) -> Callable[[F], F]:
    """Return a decorator: machine code that is kept in numba's cache and runs without the interpreter's lock.

    A division by zero gives infinity, as in numpy.

    Args:
        inline: put the function's code into its callers before anything is compiled.
        borrowing: the function makes no array and no view of one, and numba does not count references to the
            arrays that it is given. Each count is an atomic instruction; numba omits most of them, but not
            those around loops.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    if borrowing:
        options["_nrt"] = False  # no "numba runtime", which counts

    def decorated(function: F) -> F:
        result: Any = Compiled(function, options)
        if inline:
            result = numba.njit(inline="always", **options)(function)
        return cast(F, result)

    return decorated


class Compiled:
    """A function as Python calls it and as compiled code does; each form is made when it is first needed."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options = function, options

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code."""
        return self.entry(*arguments)

    @functools.cached_property
    def entry(self) -> Any:
        """The function for Python, with all that it calls."""
        try:
            entry = numba.njit(cache=True, no_cfunc_wrapper=True, **self.options)(self.function)
        except RuntimeError:  # no directory to keep it in; warm_up prints that
            announce_compilation()
            return numba.njit(no_cfunc_wrapper=True, **self.options)(self.function)
        _renew(entry._cache, Path(self.function.__code__.co_filename))
        return entry

    @functools.cached_property
    def callee(self) -> Any:
        """The function for compiled code."""
        wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return numba.njit(pipeline_class=CalleeCompiler, **wrappers, **self.options)(self.function)

    @property
    def _numba_type_(self) -> Any:  # numba's protocol: what compiled code takes this object for
        return numba.typeof(self.callee)


def _renew(cache: Any, source: Path) -> None:
    """Let a function's cache hold only while neither its module changes nor any that it imports.

    This saves no time: reading the modules adds 0.1 s to a start. It is needed for correct results. By itself
    numba compiles anew when the function's own file changes, but the machine code also holds what the
    function calls in other modules. An old file may also name types that no longer exist, and numba then
    fails to read it.
    """
    state = _state(source)
    _sweep(Path(cache._cache_path), source.stem, state)
    # The processor's type is in the name, since two nodes might write the same file of a shared file system.
    name = f"{cache._impl.filename_base}.{state}.{get_host_cpu_name()}"
    cache._cache_file = _CacheFile(cache._cache_path, name, cache._impl.locator.get_source_stamp())


class _CacheFile(IndexDataCacheFile):
    """numba's file, on a disk that may be full: then the code is compiled again next time.

    This saves no time. Without it, numba's error on a full disk ends the program, and nobody hears of a
    compilation before it begins.
    """

    def load(self, key: Any) -> Any:
        """Return a function's machine code, or None."""
        found = super().load(key)
        if found is None:
            announce_compilation()
        return found

    def save(self, key: Any, data: Any) -> None:
        """Write a function's machine code."""
        with contextlib.suppress(OSError):
            super().save(key, data)


@functools.cache
def _sweep(directory: Path, stem: str, state: str) -> None:
    """Remove machine code of other states of a module."""
    for path in directory.glob(f"{stem}.*.nb[ic]"):
        if state not in path.name:
            with contextlib.suppress(OSError):  # another rank was first
                path.unlink()


@functools.cache
def _state(source: Path) -> str:
    """Return a hash of a module and of all modules of this package that it needs."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sources(source):
        digest.update(_read(path)[1])
    return digest.hexdigest()


def sources(module: Path) -> list[Path]:
    """Return a module's file, and those of this package that it imports, directly or through others."""
    found = [module]
    for path in found:
        found += sorted(_read(path)[0] - set(found))
    return found


@functools.cache
def _read(source: Path) -> tuple[set[Path], bytes]:
    """Return the modules of this package that one imports, and its own text."""
    content = source.read_bytes()
    names = set()
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}"} | {f"{node.module}.{alias.name}" for alias in node.names}
    paths = {_path(name) for name in names if name.startswith(f"{_PACKAGE}.")}
    return {path for path in paths if path.exists()}, content


def _path(module: str) -> Path:
    """Return the file that a module of this package would have."""
    place = _ROOT.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
