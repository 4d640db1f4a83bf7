"""The group /life of run.h5: when and where it was saved, and why the run stopped. It is not exact."""

import math
import os
import socket
import time
from typing import Any

# A run counts as silent after three of its longest generations, since one with a held-out evaluation takes
# longer, and a minute, in which a job starts.
_SILENT_AFTER = 3.0
_START = 60.0  # seconds


def is_finished(content: dict[str, Any] | None, warning: str = "") -> bool:
    """Return whether a run's file exists, is intact, and says that the run is finished."""
    return content is not None and not warning and bool(content.get("life", {}).get("finished", False))


def stamp(reason: str = "", *, finished: bool = False) -> dict[str, Any]:
    """Return the group's content.

    Args:
        reason: why the run stopped; empty while it runs.
        finished: nothing is left to do.
    """
    return {
        "saved": time.time(),  # seconds since 1970
        "host": socket.gethostname(),
        "job": os.environ.get("SLURM_JOB_ID", ""),
        "reason": _printable(reason),  # of an error, with whatever a user's code says
        "finished": finished,
    }


def seconds_of(timing: dict[str, Any]) -> Any:
    """Return the seconds that each generation took."""
    return timing["total" if "total" in timing else "seconds"]  # of mpi_es, of pbt


def state_of(content: dict[str, Any], now: float, longest: float) -> tuple[str, float]:
    """Return the state of a run (why it stopped, running or silent) and the seconds since its last save.

    Args:
        longest: seconds of the longest generation.
    """
    life = content.get("life")
    if life is None:
        return "saved by an older version, which stored no state", math.nan
    silence = now - life["saved"]
    host, job, reason = (_printable(life[name]) for name in ("host", "job", "reason"))
    where = f"on {host}" + (f", job {job}" if job else "")
    if reason:
        return reason + ("" if life["finished"] else "; to be continued"), silence
    if longest == 0:  # the length of one is unknown
        return f"running {where}, no generation done", silence
    if silence > _SILENT_AFTER * longest * content["config"]["checkpoint_every"] + _START:
        return f"silent: killed or hung ({where})", silence
    return f"running {where}", silence


def _printable(text: str) -> str:
    """Return a text of a file without what a terminal would obey."""
    return "".join(one if one.isprintable() else "?" for one in text)
