"""The group /life of run.h5: when and where it was saved, why the run stopped. No part of what is exact."""

import os
import socket
import time
from typing import Any


def is_finished(content: dict[str, Any] | None, warning: str = "") -> bool:
    """Tell whether a run's file, if there is one and it is whole, says that there is nothing left to do."""
    return content is not None and not warning and bool(content.get("life", {}).get("finished", False))


def stamp(reason: str = "", *, finished: bool = False) -> dict[str, Any]:
    """Return the group's content.

    Args:
        reason: why the run stopped; empty while it goes on.
        finished: there is nothing left to do.
    """
    return {
        "saved": time.time(),  # seconds since 1970
        "host": socket.gethostname(),
        "job": os.environ.get("SLURM_JOB_ID", ""),
        "reason": reason,
        "finished": finished,
    }
