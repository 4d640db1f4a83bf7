"""Waiting without burning a core."""

import time
from typing import Any

_SPINS = 50  # tests before the first sleep: a message that is already there costs no sleep
_LONGEST_SLEEP = 1e-3  # seconds: what waiting may add to a message, and still under 1 % of a core


def wait(request: Any) -> float:
    """Wait for a non-blocking operation and return the seconds that it took.

    Every wait goes through here. MPI's own polls at full speed, and with more ranks than cores that
    starves the ranks that work.
    """
    begin = time.perf_counter()
    spins, pause = 0, 1e-5
    while not request.Test():
        spins += 1
        if spins > _SPINS:
            time.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_SLEEP)
    return time.perf_counter() - begin
