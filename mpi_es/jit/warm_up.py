"""Compile machine code before the work begins: on one rank of a node, from which the others load it."""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from mpi_es.jit.cache import CACHE_REMEDY, PACKAGE, cache_directory, cache_places
from mpi_es.jit.listener import heard_by
from mpi_es.parallel.collective_errors import all_or_raise
from mpi_es.parallel.collectives import Comm, bcast_object, free, of_this_node
from mpi_es.parallel.waiting import saying_after

_QUIET_TIME = 3.0  # seconds before the message is printed: a start from the cache takes less


def prepare(comm: Comm, compile_all: Callable[[], None]) -> None:
    """Call `compile_all` on one rank of a node, then on the others, which find it in the cache. Collective.

    Rank 0 prints what the ranks wait for.
    """
    cache = cache_directory(os.environ, PACKAGE)
    said = saying_after(_QUIET_TIME, _print, _line("loading or compiling environment and policy", cache))
    with said if comm.rank == 0 else contextlib.nullcontext():
        if comm.size == 1:
            _compile(compile_all)
            return
        node = of_this_node(comm)
        kept = bcast_object(node, cache is not None)
        first = node.rank == 0 or not kept
        free(node, comm)
        all_or_raise(comm, lambda: _compile(compile_all) if first else None)
        all_or_raise(comm, lambda: None if first else _compile(compile_all))


def _compile(compile_all: Callable[[], None]) -> None:
    """Call `compile_all` without a line for each compilation."""
    with heard_by(lambda: None):
        compile_all()


@contextlib.contextmanager
def announced() -> Iterator[None]:
    """Print a line, once in a process, if machine code must be compiled; within `prepare` print nothing."""
    with heard_by(lambda: _print(_line("compiling the environment", cache_directory(os.environ, PACKAGE)))):
        yield


def _line(work: str, cache: Path | None) -> str:
    """Return the line on what takes long, and where compiled code is cached, if anywhere."""
    places = ", ".join(map(str, cache_places(os.environ, PACKAGE)))
    kept = f"kept in {cache}" if cache else f"not kept: cannot write to {places}; {CACHE_REMEDY}"
    return f"{work}, up to a minute ({kept}) …"


@functools.cache
def _print(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
