"""slurm/evaluate.sh, outside of Slurm: what it does with a signal."""

import os
import subprocess
import sys
from pathlib import Path

from tests.launching import ROOT
from tests.slurm.jobs import variables

# It signals the script, whose process it finds in JOB, while the doctor checks the launcher.
LAUNCHER = f"""#!/usr/bin/env bash
case "$*" in *mpi_es.doctor*) kill -USR1 "$JOB" ;; esac
exec {Path(sys.prefix, "bin", "mpiexec")} -n 2 "$@"
"""


def test_a_signal_before_the_evaluation_is_not_success(place):
    launcher = place / "launcher"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)
    known = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    settings = known | variables(ROOT) | {"MPI_ES_LAUNCHER": f"'{launcher}'"}
    command = ["bash", "-c", 'JOB=$$ exec bash "$0" run', ROOT / "slurm" / "evaluate.sh"]
    done = subprocess.run(command, cwd=place, env=settings, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 143
    assert done.stdout.splitlines()[-1] == "slurm: stopped by SIGUSR1 before the evaluation began"
