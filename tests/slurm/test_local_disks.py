"""Ranks start from each node's own disk, and leave nothing there."""

import contextlib
import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from mpi_es.status import generations
from tests.launching import ROOT
from tests.slurm.cluster import Cluster, Job, install
from tests.slurm.jobs import OPTIONS, RANK

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
# What these runs import: an environment with all packages has gigabytes.
IMPORTED = (
    "charset-normalizer",
    "cloudpickle",
    "cma",
    "farama-notifications",
    "gymnasium",
    "h5py",
    "llvmlite",
)
IMPORTED += ("markdown-it-py", "mdurl", "mpi4py", "mpich", "numba", "numpy", "Pygments", "rich", "scipy")
IMPORTED += ("threadpoolctl", "typeguard", "typing-extensions", "tyro")
FOUR = ["--nodes=2", "--ntasks=4", "--ntasks-per-node=2"]


@pytest.fixture(scope="module")
def cluster():
    """A Slurm of two nodes, each with a disk of its own."""
    if reason := install():
        pytest.skip(reason)
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("this container may not mount file systems")
    with Cluster(nodes=2, disks=True, kill_wait=300) as running:  # a busy disk is slow
        yield running


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment with few packages."""
    path = tmp_path_factory.mktemp("venv") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", path], check=True)
    for name in IMPORTED:
        for file in importlib.metadata.files(name):
            source = Path(file.locate())
            target = path / source.resolve().relative_to(Path(sys.prefix).resolve())
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy2(source, target)
    packages, ours = (
        Path(sysconfig.get_path("purelib", vars={"base": str(prefix)})) for prefix in (sys.prefix, path)
    )
    for source in packages.glob("torch*"):
        (ours / source.name).symlink_to(source)
    return path


@pytest.fixture
def send(cluster, environment, place):
    """Return a function that submits a run of four ranks, two on each node, which uses the disks."""

    def submitted(iterations: int, run: str = "run", **changed: str) -> Job:
        settings = {
            "PYTHONPATH": "",
            "MPI_ES_PROJECT": str(ROOT),
            "MPI_ES_SETUP": f"PATH={environment / 'bin'}:$PATH",
            "MPI_ES_CACHE": str(environment.parent / "cache"),
            "MPI_ES_LOCAL": str(cluster.disk),
        }
        options = (*FOUR, ROOT / "slurm" / "train.sh", *OPTIONS, "--max-iter", iterations, "--run-dir", run)
        return cluster.submit(place, *options, **settings | changed)

    return submitted


@pytest.fixture
def begin(cluster, send, place):
    """Return a function that submits an endless run, and waits for its first generations."""

    def begun(run="run"):
        job = send(10**5, run)
        cluster.until(lambda: generations(place / run) > 3)
        return job

    return begun


def left(cluster):
    """Return what lies on the nodes' disks."""
    return [path.name for node in cluster.nodes for path in (cluster.place / node).iterdir()]


def shared_opens(traces, shared):
    """Return for each rank of a training how many files it opened in directories that nodes share."""
    texts = (path.read_text(errors="replace") for path in traces.glob("*"))
    where = "|".join(re.escape(str(path)) for path in shared)
    pattern = re.compile(rf'^openat\(.*"(?:{where})/.* = \d+$', re.MULTILINE)
    return [len(pattern.findall(text)) for text in texts if '"mpi_es.train"' in text]


def test_ranks_open_few_files_elsewhere_and_the_disks_are_empty_in_the_end(
    cluster, send, environment, tmp_path
):
    if not shutil.which("strace"):
        pytest.skip("strace is missing")
    opens = {}
    for run, disk in {"shared": "", "local": str(cluster.disk)}.items():
        traces = tmp_path / run
        traces.mkdir()
        launcher = f"{environment}/bin/mpiexec -n 4 strace -ff -e trace=%file -o '{traces}/rank'"
        job = send(2, run, MPI_ES_LOCAL=disk, MPI_ES_LAUNCHER=launcher)
        assert cluster.end(job) == "COMPLETED", job.log
        opens[run] = shared_opens(traces, [environment.parent, Path(sys.base_prefix, "lib"), ROOT])
        assert len(opens[run]) == 4
    assert min(opens["shared"]) > 800
    assert max(opens["local"]) < 40
    assert left(cluster) == []


def test_scancel_saves_and_leaves_nothing_on_the_disks(cluster, begin):
    job = begin()
    (copy,) = {*left(cluster)}
    assert {Path(f"/proc/{pid}/exe").readlink() for pid in cluster.processes(job, RANK)} == {
        cluster.disk / copy / "base" / "bin" / Path(sys.executable).resolve().name
    }
    cluster.ask("scancel", job.number)
    assert cluster.end(job) == "CANCELLED"
    cluster.until(lambda: left(cluster) == [])
    assert "stopped by SIGTERM; saved in run; continue with" in job.log


def test_jobs_share_the_copies_and_the_last_one_removes_them(cluster, begin, send):
    first, second = begin(), send(2, "another")
    assert cluster.end(second) == "COMPLETED", second.log
    assert len(left(cluster)) == 2  # one on each node
    cluster.ask("scancel", first.number)
    cluster.until(lambda: left(cluster) == [])


def test_a_job_removes_what_a_killed_one_has_left(cluster, begin, send):
    job = begin()
    for pid in cluster.processes(job):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    cluster.end(job)
    for node in cluster.nodes:
        (cluster.place / node / f"mpi_es-{os.getuid()}-of-another-state").mkdir()
    assert len(left(cluster)) == 4
    after = send(2, "after")
    assert cluster.end(after) == "COMPLETED", after.log
    assert left(cluster) == []


def test_a_disk_that_is_not_there_is_told(cluster, send):
    job = send(2, MPI_ES_LOCAL="/nowhere")
    assert cluster.end(job) == "FAILED"
    assert cluster.restarts(job) == 0
    assert "error: MPI_ES_LOCAL: expected a directory on the local disk of each node" in job.log
