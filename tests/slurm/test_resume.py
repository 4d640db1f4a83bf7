"""What happens to a job under a real Slurm, and that its run is none the worse for it."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mpi_es import train
from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from mpi_es.run_file.lock import locked
from mpi_es.status import generations
from tests.faults.survivors import LIBRARY, OPEN_MPI, OPEN_MPI_EXEC
from tests.launching import ROOT, assert_same, run_here
from tests.slurm.jobs import OPTIONS, RANK, variables

pytestmark = pytest.mark.timeout(900)  # a job takes seconds, and minutes on a machine that is busy
LAST = 24  # generations
RUN = (*OPTIONS, "--max-iter", LAST, "--run-dir", "run")
TWO = ["--ntasks=2"]


def kill(cluster, job, place, pattern, after=3):
    """Kill the last process of a job that matches, some generations on."""
    begin = generations(place / "run")
    cluster.until(lambda: generations(place / "run") >= begin + after)
    os.kill(cluster.processes(job, pattern)[-1], signal.SIGKILL)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The directory of the same run in one process."""
    directory = tmp_path_factory.mktemp("unbroken") / "run"
    options = (*OPTIONS, "--env-options", "pause=0", "--max-iter", LAST, "--run-dir", directory)
    run_here(train, *options, "--console", "silent")
    return directory


@pytest.fixture
def begin(cluster, submit, place):
    """Return a function that submits the run, and waits for its first generations."""

    def begun(options=TWO, **settings):
        job = submit(options, "train.sh", *RUN, **settings)
        cluster.until(lambda: generations(place / "run") > 3)
        return job

    return begun


@pytest.fixture
def ends_well(cluster, place, exact, unbroken):
    """Return a function that waits for a job's end, as the same run, after so many requeues."""

    def check(job, restarts):
        assert_finished(cluster, job, restarts)
        assert_same(exact(place / "run"), exact(unbroken))

    return check


def assert_finished(cluster, job, restarts):
    """Wait for a job's end, and see how often it was requeued."""
    assert cluster.end(job) == "COMPLETED", job.log
    assert cluster.restarts(job) == restarts
    assert job.log.splitlines()[-1] == "slurm: finished: run"


# Of a job from which another one is submitted; sbatch passes them on.
OUTER = {"SLURM_ARRAY_JOB_ID": "99", "SLURM_ARRAY_TASK_ID": "7", "SLURM_RESTART_COUNT": "3"}
OUTER |= {"PMIX_NAMESPACE": "slurm.pmix.1.0", "PMIX_RANK": "0", "SLURM_PTY_PORT": "35667", "PMI_SIZE": "4"}


def test_a_signal_before_the_time_limit_saves_requeues_and_continues(begin, ends_well, cluster, submit):
    job = begin(**OUTER)
    for rank in cluster.processes(job, RANK):  # mpiexec's ranks would be bound to one core of the node
        assert "SRUN_CPUS_PER_TASK" not in Path(f"/proc/{rank}/environ").read_text(errors="replace")
    cluster.ask("scancel", "--batch", "--signal=USR1", job.number)
    ends_well(job, 1)
    assert "slurm: stopped by SIGUSR1, saved: run; requeued" in job.log.splitlines()
    again = submit(TWO, "train.sh", *RUN)
    assert_finished(cluster, again, 0)
    assert f"generation {LAST}: last generation done" in again.log


def test_a_killed_rank_is_tried_again_a_few_times(ends_well, cluster, submit, place):
    job = submit(TWO, "train.sh", *RUN, MPI_ES_RETRIES="1")
    kill(cluster, job, place, RANK)
    cluster.until(lambda: cluster.restarts(job) == 1)
    before = generations(place / "run")
    cluster.until(lambda: generations(place / "run") > before)
    kill(cluster, job, place, RANK)
    assert cluster.end(job) == "FAILED"
    assert re.search(r"error: rank \d on .* died at", job.log)
    assert "(failure 1, 1 are tried again); requeued" in job.log
    assert job.log.splitlines()[-1].startswith("slurm: gave up after failure 2 with code 9")
    ends_well(submit(TWO, "train.sh", *RUN), 0)


def test_a_mistake_is_told_at_once_and_not_tried_again(cluster, submit):
    job = submit(TWO, "train.sh", "--env", "CartPol-v1")
    assert cluster.end(job) == "FAILED"
    assert cluster.restarts(job) == 0
    assert job.log.startswith("error: --env: expected a gymnasium id")
    assert job.log.count("\n") == 1


def test_the_file_of_a_shorter_run_is_not_taken_for_the_end_of_a_longer_one(cluster, submit, place):
    run_here(train, *OPTIONS, "--run-dir", place / "run", "--console", "silent", "--max-iter", 2)
    longer = (*OPTIONS, "--run-dir", "run", "--max-iter", 4)
    # The ranks refuse the option before the first generation.
    job = submit(TWO, "carracing.sh", *longer, "--on-rank-loss", "shrink")
    assert cluster.end(job) == "FAILED"
    assert job.log.splitlines()[-1].startswith("slurm: ended by the error above; correct it, then")
    assert_finished(cluster, submit(TWO, "train.sh", *longer), 0)


def test_outside_of_slurm_a_failure_is_told_and_not_tried_again(place):
    leaving = ("--env", "tests.slurm.slow:leaving", *OPTIONS[2:], "--run-dir", "run")
    known = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    settings = variables(ROOT) | {"MPI_ES_LAUNCHER": f"{Path(sys.prefix, 'bin', 'mpiexec')} -n 2"}
    command = ["bash", ROOT / "slurm" / "train.sh", *map(str, leaving)]
    done = subprocess.run(command, cwd=place, env=known | settings, stdout=subprocess.PIPE, text=True)
    assert done.returncode != 0
    assert done.stdout.splitlines()[-1].startswith("slurm: gave up after failure 1 with code")


def test_a_launcher_that_makes_worlds_of_one_is_refused_before_the_work(cluster, submit, place):
    job = submit(TWO, "train.sh", *RUN, MPI_ES_LAUNCHER="srun --mpi=none")
    assert cluster.end(job) == "FAILED"
    assert "expected one world of the 2 ranks that srun started" in job.log
    assert job.log.splitlines()[-1].startswith("error: launcher: expected one with which")
    assert not (place / "run").exists()


@pytest.mark.slow
def test_the_launcher_that_was_found_right_is_kept_after_a_requeue(begin, cluster):
    several = f"srun --mpi=none\n{Path(sys.prefix, 'bin', 'mpiexec')} -n 2"
    job = begin(MPI_ES_LAUNCHER=several)
    cluster.ask("scancel", "--batch", "--signal=USR1", job.number)
    assert_finished(cluster, job, 1)
    assert job.log.count("slurm: not with srun --mpi=none") == 1


DOCTOR = r"^python -m mpi_es\.doctor"


@pytest.mark.slow
def test_a_rank_that_is_killed_while_the_launcher_is_examined_is_tried_again(cluster, submit):
    job = submit(TWO, "train.sh", *RUN)
    cluster.until(lambda: cluster.processes(job, DOCTOR))
    os.kill(cluster.processes(job, DOCTOR)[0], signal.SIGKILL)
    assert_finished(cluster, job, 1)
    assert "(failure 1, 3 are tried again); requeued" in job.log


def test_a_directory_that_is_not_the_project_is_told(cluster, submit):
    job = submit(TWO, "pbt.sh", MPI_ES_PROJECT="/nowhere")
    assert cluster.end(job) == "FAILED"
    assert job.log == "error: MPI_ES_PROJECT: expected the project, got /nowhere\n"


@pytest.mark.slow
def test_the_time_limit_itself(cluster, submit):
    long = (*OPTIONS, "--max-iter", 10**5, "--run-dir", "run")
    # Slurm looks each 30 s, so of one minute the signal might come before the first generation.
    job = submit([*TWO, "--time=2", "--signal=B:USR1@30"], "train.sh", *long)
    cluster.until(lambda: cluster.restarts(job) == 1, 240)
    assert "slurm: stopped by SIGUSR1, saved: run; requeued" in job.log
    cluster.ask("scancel", job.number)


@pytest.mark.slow
def test_a_generation_that_never_fits_is_given_up(cluster, submit, place):
    long = (*OPTIONS, "--env-options", "pause=5", "--max-iter", LAST, "--run-dir", "run")
    job = submit(TWO, "train.sh", *long, MPI_ES_RETRIES="0")
    cluster.until(lambda: checkpoint.exists(place / "run"))  # saved before its first generation
    cluster.ask("scancel", "--batch", "--signal=USR1", job.number)
    assert cluster.end(job) == "FAILED"
    reason = "stopped by SIGUSR1 before a generation was done"
    assert f"slurm: gave up after failure 1 with code 0: {reason}" in job.log


@pytest.mark.slow
def test_scancel_saves_and_does_not_come_back(begin, ends_well, cluster, submit):
    job = begin()
    cluster.ask("scancel", job.number)
    assert cluster.end(job) == "CANCELLED"
    cluster.until(lambda: "ended by scancel" in job.log.splitlines()[-1])
    assert "stopped by SIGTERM; saved in run; continue with\npython -m mpi_es.train --resume run\n" in job.log
    ends_well(submit(TWO, "train.sh", *RUN), 0)


@pytest.mark.slow
def test_a_preempted_job_comes_back(begin, ends_well, cluster, submit, place):
    job = begin(["--ntasks=2", "--nodes=2", "--exclusive"])
    urgent = cluster.submit(place, "-p", "urgent", "--exclusive", "--nodes=2", "--wrap", "sleep 1")
    cluster.until(lambda: cluster.restarts(job) == 1)
    assert cluster.end(urgent) == "COMPLETED"
    ends_well(job, 1)
    assert "ended by scancel, preemption" in job.log


def catches(pid, number):
    """Return whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    return bool(int(status.partition("SigCgt:")[2].split()[0], 16) >> (number - 1) & 1)


@pytest.mark.slow
def test_a_signal_that_mpi_drops_is_repeated(ends_well, cluster, submit):
    job = submit(TWO, "train.sh", *RUN)

    def starts():  # MPICH catches USR1 before the program does
        return any(
            catches(pid, signal.SIGUSR1) and not catches(pid, signal.SIGTERM)
            for pid in cluster.processes(job, RANK)
        )

    cluster.until(starts, pause=0.01)
    (script,) = cluster.processes(job, "bash .*/slurm_script")
    os.kill(script, signal.SIGUSR1)
    ends_well(job, 1)
    assert "slurm: stopped by SIGUSR1" in job.log


@pytest.mark.slow
def test_a_job_that_is_to_be_requeued_waits_for_slurms_controller(begin, ends_well, cluster):
    job = begin()
    (script,) = cluster.processes(job, "bash .*/slurm_script")
    cluster.stop_controller()
    try:
        os.kill(script, signal.SIGUSR1)
        cluster.until(lambda: "slurm_load_jobs error" in job.log)
    finally:
        cluster.start_controller()
    ends_well(job, 1)


@pytest.mark.slow
def test_a_job_waits_for_its_ranks_on_a_node_that_slurm_has_lost_sight_of(cluster, submit, place):
    job = submit([*TWO, "--nodes=1"], "train.sh", *OPTIONS, "--max-iter", 10**5, "--run-dir", "run")
    cluster.until(lambda: generations(place / "run") > 3)
    (node,) = cluster.nodes_of(job)
    cluster.stop_node(node)
    try:
        cluster.until(lambda: "slurm: waiting: ranks of this job still run" in job.log)
        assert cluster.processes(job, RANK, node)
    finally:
        cluster.start_node(node)
    (other,) = cluster.nodes_of(job)
    cluster.until(lambda: cluster.processes(job, RANK, other))
    before = generations(place / "run")
    cluster.until(lambda: generations(place / "run") > before)
    assert (other != node, cluster.restarts(job)) == (True, 1)
    cluster.ask("scancel", job.number)
    assert cluster.end(job) == "CANCELLED"


@pytest.mark.slow
def test_a_requeued_job_does_not_wait_for_another_that_took_its_run(begin, cluster, place):
    job = begin()
    with contextlib.ExitStack() as ours:

        def is_free():
            with contextlib.suppress(UserError):
                return ours.enter_context(locked(place / "run"))

        cluster.ask("scancel", "--batch", "--signal=USR1", job.number)
        cluster.until(is_free, pause=0.1)
        assert cluster.end(job) == "FAILED"
    assert "waiting: ranks of this job" not in job.log
    assert "run: another job is running this run" in job.log


@pytest.mark.slow
def test_a_rank_that_leaves_with_code_0_is_not_tried_again_for_ever(cluster, submit):
    leaving = ("--env", "tests.slurm.slow:leaving", *OPTIONS[2:], "--run-dir", "run")
    job = submit(TWO, "train.sh", *leaving, MPI_ES_RETRIES="1")
    assert cluster.end(job) == "FAILED"
    assert "(failure 1, 1 are tried again); requeued" in job.log
    assert job.log.splitlines()[-1].startswith("slurm: gave up after failure 2 with code")


@pytest.mark.slow
def test_where_ranks_outlive_one_another_a_killed_one_is_no_failure(ends_well, cluster, submit, place):
    if not OPEN_MPI_EXEC.exists():
        pytest.skip(f"no Open MPI in {OPEN_MPI}: `make setup` puts one there")
    as_root = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    settings = {
        "MPI_ES_SETUP": f"PATH={Path(sys.prefix, 'bin')}:$PATH; export MPI4PY_LIBMPI={LIBRARY} {as_root}",
        "MPI_ES_LAUNCHER": f"{OPEN_MPI_EXEC} --with-ft ulfm --oversubscribe -n 4",
    }
    job = submit(["--ntasks=4", "--nodes=2", "--ntasks-per-node=2"], "train.sh", *RUN, **settings)
    kill(cluster, job, place, RANK)
    ends_well(job, 0)
    assert "1 of 4 ranks lost; the others continue" in job.log
