"""End a rank whose launcher is gone.

If a launcher is killed, its helper on each node, such as MPICH's hydra_pmi_proxy, ends its ranks. If the
helper is killed, nothing ends them: they would run for ever, and hold the lock of their run.
Linux can signal the death of a parent (PR_SET_PDEATHSIG), but not to a rank that a script starts. A watchdog
could be killed with the helper, so each rank has a thread for this.
"""

import functools
import os
import threading
import time
from pathlib import Path

from mpi_es.parallel.output import drop_unread
from mpi_es.parallel.stop_signal import LAUNCHER_LOST

_LOOK = 1.0  # seconds between checks
_STOPS, _SAVES = 5.0, 20.0  # seconds in which the ranks of a node stop together, and rank 0 then saves
LOST, ALONE = threading.Event(), threading.Event()  # the launcher is gone; other nodes' ranks may be gone too


@functools.cache
def start(variable: str) -> None:
    """Watch the process that started this rank, in a thread, at the cost of a system call per second.

    Args:
        variable: the environment variable in which the launcher passes the rank; empty without a launcher.
    """
    if not variable:
        return
    rank = _outermost(variable)
    launcher = _parent_of(rank)
    if launcher > 1:  # 1: it is gone already, and MPI does not start; or it is a container's first process
        threading.Thread(target=_watch, args=(rank, launcher), daemon=True).start()


def _outermost(variable: str) -> int:
    """Return this process, or the outermost of the scripts around it, which the launcher started."""
    process, mark = os.getpid(), f"{variable}=".encode()
    while (parent := _parent_of(process)) > 1:
        try:
            environ = Path("/proc", str(parent), "environ").read_bytes()
        except OSError:  # another user's, as Slurm's daemon is; or a system without /proc
            break
        if not any(entry.startswith(mark) for entry in environ.split(b"\0")):
            break
        process = parent
    return process


def _parent_of(process: int) -> int:
    """Return the parent of a process; 0 if there is none."""
    if process == os.getpid():
        return os.getppid()
    try:
        text = Path("/proc", str(process), "stat").read_text(errors="replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[1])


def _watch(rank: int, launcher: int) -> None:
    """Stop this process once the launcher is gone, or end it if it does not stop."""
    while _parent_of(rank) == launcher:
        time.sleep(_LOOK)
    drop_unread()
    LOST.set()
    os.kill(os.getpid(), LAUNCHER_LOST)
    time.sleep(_STOPS)
    ALONE.set()
    time.sleep(_SAVES)
    os._exit(1)
