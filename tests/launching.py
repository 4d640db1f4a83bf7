"""Starting our programs under mpiexec, and comparing what they wrote."""

import subprocess
import sys
from pathlib import Path

from mpi_es import checkpoint

MPIEXEC = Path(sys.prefix, "bin", "mpiexec")
LIMIT = 120  # seconds: a deadlock is a failure


def start(ranks: int, *arguments: object, **options: object) -> subprocess.Popen:
    """Start `python -m …` on some ranks."""
    launcher = [str(MPIEXEC), "-n", str(ranks)] if ranks else []
    command = [*launcher, sys.executable, *map(str, arguments)]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **piped | options)


def exact_content(run: Path) -> dict:
    """Return all of a run's file that must not depend on who ran it."""
    content, warning = checkpoint.load(run)
    assert warning == ""
    return {name: content[name] for name in ("state", "progress", "history", "evaluations", "best", "last")}


def assert_same(one: object, other: object, path: str = "") -> None:
    """Compare nested content to the last bit; NaN equals NaN."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for name in one:
            assert_same(one[name], other[name], f"{path}/{name}")
    elif hasattr(one, "tobytes"):
        assert (one.shape, one.tobytes()) == (other.shape, other.tobytes()), path
    else:
        assert one == other or one != one, path
