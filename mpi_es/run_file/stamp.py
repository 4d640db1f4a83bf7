"""The group /life of run.h5: when and where it was saved, and why the run stopped. It is not exact."""

import os
import socket
import time
from typing import Any


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
        "reason": reason,
        "finished": finished,
    }
