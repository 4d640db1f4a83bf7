"""Trainings by mpi_es.train that a study begins, or goes on with, until their cost is spent."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import results
from numpy.typing import NDArray

from mpi_es import load_run
from mpi_es.errors import UserError
from mpi_es.reports.curves import Curves, load

CHECK = 2  # seconds between looks at a run


def find(directory: Path) -> Curves | None:
    """Return a run, None while it has no generation."""
    try:
        return load(directory)
    except UserError:
        return None


def train(
    directory: Path, words: Iterable[object], cost: Callable[[Curves], float], budget: float, ranks: int = 1
) -> Curves:
    """Train until a run's cost reaches the budget, or the run ends; return it.

    Args:
        directory: of the run, which is continued where it has begun.
        words: options of mpi_es.train.
        cost: what a run has cost so far.
        budget: in the unit of the cost.
    """
    launcher = [Path(sys.prefix, "bin", "mpiexec"), "-n", ranks] if ranks > 1 else []
    command = [*launcher, sys.executable, "-m", "mpi_es.train", *words, "--run-dir", directory, "--continue"]
    command += ["--console", "silent", "--no-tensorboard"]

    def is_spent() -> bool:
        run = find(directory)
        return run is not None and cost(run) >= budget

    if not is_spent():
        with subprocess.Popen([str(word) for word in command]) as process:
            while process.poll() is None and not is_spent():
                time.sleep(CHECK)
            process.send_signal(signal.SIGUSR1)
        if process.returncode:
            sys.exit(f"{directory.name}: ended with code {process.returncode}")
        if not is_spent() and not load_run(directory)["life"]["finished"]:
            sys.exit(f"{directory.name}: was interrupted")
    run = load(directory)
    print(f"{directory.name}: {cost(run):.4g}", flush=True)
    return run


def steps(run: Curves) -> float:
    """Return a run's steps of training."""
    return float(run.axes["steps"][-1])


def held_out(run: Curves, cost: NDArray[np.float64]) -> results.Curve:
    """Return a run's held-out means.

    Args:
        cost: (generations + 1,) what the run had cost before the first generation and after each.
    """
    points = [(e.generation, cost[e.generation], e.returns.mean()) for e in run.evaluations]
    return np.array(points).reshape(-1, 3)


def up_to(curve: results.Curve, budget: float) -> results.Curve:
    """Return the points of a curve that its budget pays for."""
    paid: results.Curve = curve[curve[:, 1] <= budget]
    return paid
