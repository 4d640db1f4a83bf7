"""What the tests of the job scripts submit."""

import sys
from pathlib import Path

from tests.launching import ROOT

OPTIONS = ("--env", "tests.slurm.slow:make", "--population-size", 6, "--hidden", 4, "--num-eval-rollouts", 3)
OPTIONS += ("--no-tensorboard", "--eval-every", 0, "--checkpoint-interval", 0)
RANK, MPIEXEC = r"^python -m mpi_es\.train", r"bin/mpiexec "  # commands of a job's processes


def variables(project: Path) -> dict[str, str]:
    """Return the variables with which the scripts find this project and this Python."""
    return {
        "MPI_ES_PROJECT": str(project),
        "MPI_ES_SETUP": f"PATH={Path(sys.prefix, 'bin')}:$PATH",
        "MPI_ES_CACHE": str(ROOT / ".numba"),
    }
