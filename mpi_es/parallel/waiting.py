"""Waiting without burning a core."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mpi_es.parallel import launcher_watch
from mpi_es.parallel.stop_signal import Stopped

_SPINS = 50  # tests before the first sleep: a message that is already there costs no sleep
_SHORT, _LONGEST = 1e-3, 1e-2  # seconds of a sleep: what waiting may add to a message
_SHARE = 1 / 50  # of the time waited so far, which a sleep between these takes: who waits long wakes seldom


def wait(request: Any) -> float:
    """Wait for a non-blocking operation and return the seconds that it took.

    Every wait goes through here. MPI's own polls at full speed, and with more ranks than cores that
    starves the ranks that work. Where the launcher is gone, so may be the others: then raise Stopped.
    """
    begin = time.perf_counter()
    spins, pause = 0, 1e-5
    while not request.Test():
        spins += 1
        if spins > _SPINS:
            if launcher_watch.ALONE.is_set():
                raise Stopped
            time.sleep(pause)
            longest = min(max(_SHORT, _SHARE * (time.perf_counter() - begin)), _LONGEST)
            pause = min(1.5 * pause, longest)
    return time.perf_counter() - begin


@contextmanager
def saying_after(seconds: float, say: Callable[[str], object], text: str) -> Iterator[None]:
    """Say something, from another thread, if what is in the block takes longer."""
    timer = threading.Timer(seconds, say, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
