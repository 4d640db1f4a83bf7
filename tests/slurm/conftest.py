"""One Slurm for all tests of the job scripts, and the jobs that they submit."""

import sys
from pathlib import Path

import pytest

from tests.slurm.cluster import ROOT, Cluster, Job, install

OPTIONS = ("--env", "tests.slurm.slow:make", "--population-size", 6, "--hidden", 4, "--num-eval-rollouts", 3)
OPTIONS += ("--no-tensorboard", "--eval-every", 0)


@pytest.fixture(scope="session")
def cluster():
    """A Slurm of two nodes; without one, the reason is told."""
    if reason := install():
        pytest.skip(reason)
    with Cluster(nodes=2) as running:
        yield running


@pytest.fixture
def place(tmp_path):
    """A directory to submit from, whose name a careless script would split."""
    directory = tmp_path / "my jobs"
    directory.mkdir()
    return directory


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """The project under a path with a space in it."""
    path = tmp_path_factory.mktemp("slurm") / "my project"
    path.symlink_to(ROOT)
    return path


@pytest.fixture
def submit(cluster, place, project):
    """Return a function that submits a job script: options of sbatch, its name, its arguments."""

    def send(options: list, script: str, *arguments: object, **variables: str) -> Job:
        settings = {
            "MPI_ES_PROJECT": str(project),
            "MPI_ES_SETUP": f"PATH={Path(sys.prefix, 'bin')}:$PATH",
            "MPI_ES_CACHE": str(ROOT / ".numba"),
        }
        command = (*options, project / "slurm" / script, *arguments)
        return cluster.submit(place, *command, **(settings | variables))

    return send
