"""Trainings by pbt.train that a study begins, or goes on with where they were."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mpi_es.run_file import checkpoint


def train(path: Path, words: Iterable[object], generations: int, ranks: int = 1) -> dict[str, Any]:
    """Begin a run, or continue it, to its end; return what its file holds.

    What it says goes to a log beside its directory.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    launcher = [Path(sys.prefix, "bin", "mpiexec"), "-n", ranks] if ranks > 1 else []
    command = [*launcher, sys.executable, "-m", "pbt.train", *words]
    command += ["--run-dir", path, "--continue", "--max-iter", generations, "--console", "lines"]
    print(path.name, flush=True)
    with path.with_name(f"{path.name}.log").open("a") as log:
        subprocess.run([str(word) for word in command], stdout=log, stderr=log, check=True)
    return checkpoint.load(path)[0]
