"""Waiting without burning a core."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mpi_es.parallel import launcher_watch
from mpi_es.parallel.stop_signal import Stopped

_SPINS = 50  # tests before the first sleep: a message that is already there costs no sleep
_SHORT, _LONGEST = 1e-3, 1e-2  # seconds of a sleep, which waiting may add to a message's latency
_SHARE = 1 / 50  # share of the time waited so far that a sleep takes, between these limits


def wait(request: Any) -> float:
    """Wait for a non-blocking operation and return the seconds that it took.

    Every wait goes through here. MPI_Wait polls at full speed, which with more ranks than cores starves the
    ranks that work. If the launcher is gone, other ranks may be gone too: raise Stopped.
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
    """Call `say` with the text, from another thread, if the block takes longer than `seconds`."""
    timer = threading.Timer(seconds, say, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
