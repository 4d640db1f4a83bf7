"""slurm/evaluate.sh, outside of Slurm: what it does with a signal."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mpi_es import train
from tests.launching import ROOT, run_here, wait_until
from tests.slurm.jobs import OPTIONS, variables

MPIEXEC = Path(sys.prefix, "bin", "mpiexec")
# It signals the script, whose process it finds in JOB, while the doctor checks the launcher.
LAUNCHER = f"""#!/usr/bin/env bash
case "$*" in *mpi_es.doctor*) kill -USR1 "$JOB" ;; esac
exec {MPIEXEC} -n 2 "$@"
"""


@pytest.fixture
def begin(place):
    """Return a function that starts evaluate.sh."""

    def begun(launcher: str, *arguments) -> subprocess.Popen:
        known = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
        settings = known | variables(ROOT) | {"MPI_ES_LAUNCHER": launcher}
        command = ["bash", "-c", 'JOB=$$ exec bash "$0" "$@"', ROOT / "slurm" / "evaluate.sh"]
        command += map(str, arguments)
        return subprocess.Popen(command, cwd=place, env=settings, stdout=subprocess.PIPE, text=True)

    return begun


def test_a_signal_before_the_evaluation_is_not_success(begin, place):
    launcher = place / "launcher"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)
    job = begin(f"'{launcher}'", "run")
    told, _ = job.communicate()
    assert job.returncode == 143
    assert told.splitlines()[-1] == "slurm: stopped by SIGUSR1 before the evaluation began"


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_a_signal_ends_the_evaluation(begin, place, number):
    run = place / "run"
    run_here(train, *OPTIONS, "--max-iter", 1, "--run-dir", run, "--console", "silent")

    def ranks():
        pattern = f"mpi_es.evaluate {run}"
        return subprocess.run(["pgrep", "-f", pattern], stdout=subprocess.PIPE, text=True).stdout

    job = begin(f"{MPIEXEC} -n 2", run, "--episodes", 10**6)
    wait_until(ranks, "evaluation")
    job.send_signal(number)
    job.communicate()
    assert job.returncode
    assert not ranks()
