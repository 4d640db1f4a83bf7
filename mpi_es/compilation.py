"""Machine code before the work begins: compiled by one rank of a node, then loaded by the others."""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from mpi_es import storage
from mpi_es.checks import Finding
from mpi_es.comm import Comm, agree, bcast_object, of_this_node

_PATIENCE = 3.0  # seconds: loading it from the cache takes less


def prepare(comm: Comm, compile_all: Callable[[], None]) -> None:
    """Call `compile_all` on one rank of a node, then on the others, which find it in the cache. Collective.

    Rank 0 tells whoever waits what is going on.
    """
    cache = storage.numba_cache(os.environ, Path(__file__).parent)
    with _announced(cache) if comm.rank == 0 else contextlib.nullcontext():
        if comm.size == 1:
            compile_all()
            return
        node = of_this_node(comm)
        kept = bcast_object(node, cache.status == "ok")
        first = node.rank == 0 or not kept
        node.Free()
        agree(comm, lambda: compile_all() if first else None)
        agree(comm, lambda: None if first else compile_all())


@contextlib.contextmanager
def _announced(cache: Finding) -> Iterator[None]:
    """Tell of the compilation if it takes long, and if nothing will be kept of it."""
    kept = f"kept in {cache.seen}" if cache.status == "ok" else f"not kept: {cache.seen}; {cache.remedy}"
    timer = threading.Timer(_PATIENCE, _say, [f"compiling simulator and agent, up to a minute ({kept}) …"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)
