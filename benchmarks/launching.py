"""A benchmark's own program under mpiexec."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def records(ranks: int, program: str, *words: object) -> list[Any]:
    """Return what the program prints on some ranks: a line of JSON for each record."""
    mpiexec = Path(sys.prefix, "bin", "mpiexec")
    command = [mpiexec, "-n", ranks, sys.executable, "-m", "mpi4py", program, *words]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
