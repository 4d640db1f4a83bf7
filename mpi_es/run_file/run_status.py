"""The group /life of run.h5: when and where the run was saved, and why it stopped.
It is not bit-identical between runs.
"""

import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from mpi_es.config.fields import Range

# A run counts as silent after the time of three of its longest generations, since one with a held-out
# evaluation takes longer, and a minute, in which a job starts.
_SILENT_AFTER = 3.0
_START = 60.0  # seconds
LATEST = 1e12  # seconds, some 30,000 years: no run takes longer, and no clock shows a later time


def is_finished(content: dict[str, Any] | None, warning: str = "") -> bool:
    """Return whether a run's file exists, is intact, and says that the run is finished."""
    return content is not None and not warning and bool(content["life"]["finished"])


def may_end_earlier(config: dict[str, Any]) -> bool:
    """Return whether a run with these options may end before its last generation."""
    others = ("function", "max_evaluations", "tolx", "tolfun", "callback")  # functions converge by default
    return config.get("target_fitness") is not None or any(map(config.get, others))


@dataclass(frozen=True)
class Life:
    """When and where a run was saved, and why it stopped."""

    saved: Annotated[float, Range(0, LATEST)]  # seconds since 1970
    host: str
    job: str  # Slurm's number
    reason: str  # empty while it runs
    finished: bool  # whether nothing is left to do
    rest: Annotated[float, Range(0, LATEST)]  # seconds before the next save, at least


def stamp(reason: str = "", *, finished: bool = False, rest: float = 0.0) -> Life:
    """Return the group's content for a save now."""
    job = os.environ.get("SLURM_JOB_ID", "")
    return Life(time.time(), socket.gethostname(), job, _printable(reason), finished, rest)


def state_of(content: Mapping[str, Any], now: float) -> tuple[str, float]:
    """Return the state of a run (why it stopped, running or silent) and the seconds since its last save."""
    life, longest = content["life"], float(content["timing"]["total"].max(initial=0.0))
    silence = now - life["saved"]
    host, job, reason = (_printable(life[name]) for name in ("host", "job", "reason"))
    where = f"on {host}" + (f", job {job}" if job else "")
    if reason:
        return reason + ("" if life["finished"] else "; to be continued"), silence
    if longest == 0:  # the length of one is unknown
        what = "running" if silence < _START else "running or killed"
        return f"{what} {where}, no generation saved", silence
    if silence > _SILENT_AFTER * longest + life["rest"] + _START:
        return f"silent: killed or hung ({where})", silence
    return f"running {where}", silence


def _printable(text: str) -> str:
    """Return a text of a file without characters that could control a terminal."""
    return "".join(one if one.isprintable() else "?" for one in text)
