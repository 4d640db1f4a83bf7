"""What happens to a job that runs a script, under a real Slurm."""

import re
from pathlib import Path

import pytest

from mpi_es.scripts.directories import LIST
from mpi_es.status import generations
from tests.launching import start
from tests.slurm.test_resume import TWO

pytestmark = pytest.mark.timeout(900)  # a job takes seconds, and minutes on a machine that is busy
SCRIPT = Path(__file__).parent / "sphere.py"


def result_of(text):
    """Return what the script printed at its end."""
    return re.findall(r"^result (.*)$", text, re.MULTILINE)


def runs_of(job, place):
    """Return the two directories that the script did not name."""
    stem = place / "runs" / f"sphere-{job.number}" / "sphere.py-sphere-cma_es-3"
    return stem, stem.with_name(f"{stem.name}-2")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """What the script prints in one process."""
    out, err = start(0, SCRIPT, 0, cwd=tmp_path_factory.mktemp("unbroken")).communicate(timeout=600)
    assert err == ""
    return result_of(out)


def test_a_script_is_saved_requeued_and_continued_in_each_of_its_runs(cluster, submit, place, unbroken):
    job = submit(TWO, "function.sh", SCRIPT, 0.15)
    for restarts, run in enumerate(runs_of(job, place)):
        cluster.until(lambda run=run: generations(run) > 2)
        cluster.ask("scancel", "--batch", "--signal=USR1", job.number)
        cluster.until(lambda restarts=restarts: cluster.restarts(job) == restarts + 1)
    assert cluster.end(job) == "COMPLETED", job.log
    directory = f"runs/sphere-{job.number}"
    assert job.log.count(f"slurm: stopped by SIGUSR1, saved: {directory}; requeued") == 2
    assert job.log.splitlines()[-1] == f"slurm: finished: {directory}"
    assert result_of(job.log) == unbroken
    assert sorted(path.name for path in (place / directory).iterdir()) == sorted(
        path.name for path in runs_of(job, place)
    )


def test_calls_start_steps_of_the_job(cluster, submit, place):
    script = SCRIPT.with_name("external.py")
    job = submit(["--ntasks=4"], "function.sh", script, MPI_ES_LAUNCHER="mpiexec -n 2")
    assert cluster.end(job) == "COMPLETED", job.log
    assert result_of(job.log) == ["True 13"]
    assert not [*(place / "runs").glob("*/*/calls/*")]


def test_a_script_whose_callback_ends_its_run_is_finished(cluster, submit, place):
    call = "mpi_es.minimise(lambda x: float(x @ x), [1.0, 1.0], callback=lambda one: one.number >= 2)"
    (place / "ends.py").write_text(f"import mpi_es\n{call}\n")
    job = submit(TWO, "function.sh", "ends.py")
    assert cluster.end(job) == "COMPLETED", job.log
    assert (cluster.restarts(job), job.log.splitlines()[-1][:16]) == (0, "slurm: finished:")


def test_a_script_that_fails_by_a_mistake_is_not_tried_again(cluster, submit, place):
    (place / "wrong.py").write_text("import mpi_es\nmpi_es.evolve(lambda x: 0.0, [], sigma=1)\n")
    job = submit(TWO, "function.sh", "wrong.py")
    assert cluster.end(job) == "FAILED"
    assert cluster.restarts(job) == 0
    assert "error: x0: expected a vector of finite numbers" in job.log
    assert "slurm: ended by the error above" in job.log.splitlines()[-1]


@pytest.mark.slow
def test_a_script_that_raises_is_tried_again_a_few_times(cluster, submit, place):
    (place / "wrong.py").write_text("import mpi_es\nmpi_es.rank()\nraise ValueError('broken')\n")
    job = submit(TWO, "function.sh", "wrong.py", MPI_ES_RETRIES="1")
    assert cluster.end(job) == "FAILED"
    assert "ValueError: broken" in job.log
    assert job.log.splitlines()[-1].startswith("slurm: gave up after failure 2")


@pytest.mark.slow
def test_without_a_script_the_job_says_so(cluster, submit):
    job = submit(TWO, "function.sh", "nowhere.py")
    assert cluster.end(job) == "FAILED"
    assert job.log.startswith("error: SCRIPT: expected a Python script as the first argument, got nowhere.py")


@pytest.mark.slow
def test_a_second_run_of_the_script_begins_anew(cluster, submit, place, unbroken):
    jobs = [submit(TWO, "function.sh", SCRIPT, 0) for _ in range(2)]
    for job in jobs:
        assert cluster.end(job) == "COMPLETED", job.log
        assert result_of(job.log) == unbroken
        assert not (place / "runs" / f"sphere-{job.number}" / LIST).exists()
