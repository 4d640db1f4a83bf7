"""One Slurm for all tests of the job scripts, and the jobs that they submit."""

import pytest

from tests.launching import ROOT
from tests.slurm.cluster import Cluster, Job, install
from tests.slurm.jobs import variables


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

    def send(options: list, script: str, *arguments: object, **changed: str) -> Job:
        command = (*options, project / "slurm" / script, *arguments)
        return cluster.submit(place, *command, **(variables(project) | changed))

    return send
