"""What the tests of the job scripts submit, and how far it is."""

import sys
from pathlib import Path

from mpi_es.run_file import checkpoint
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


def generation(run: Path) -> int:
    """Return how many generations a run has behind it."""
    return checkpoint.load(run)[0]["progress"]["generation"] if checkpoint.exists(run) else 0
