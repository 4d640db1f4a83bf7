"""The processes of one attack, which know each other by a variable of their environment."""

import contextlib
import os
import signal
from pathlib import Path

MARK = "MPI_ES_ATTACK"
# What to look for in a command, from the launcher down to a rank's helpers.
ROLES = {
    "mpiexec": "bin/mpiexec",
    "proxy": "hydra_pmi_proxy",
    "rank": "-m\0mpi_es.train",
    "watchdog": "watchdog.py",
}


def of_attack(name: str) -> dict[int, str]:
    """Return the role of each process of an attack that has not ended; others' is empty."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ends meanwhile
            if f"{MARK}={name}\0".encode() not in (place / "environ").read_bytes():
                continue
            command = (place / "cmdline").read_bytes().decode(errors="replace")
            found[int(place.name)] = _role(command)
    return found


def _role(command: str) -> str:
    for role, sign in ROLES.items():
        if sign in command and (role != "rank" or "bin/mpiexec" not in command):
            return role
    return ""


def end(name: str) -> None:
    """Kill what is left of an attack."""
    for process in of_attack(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
