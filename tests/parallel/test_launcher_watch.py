"""Ranks outlive MPICH's helper, hydra_pmi_proxy, unless they notice; tests/faults has other deaths."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mpi_es import train
from mpi_es.parallel import launcher_watch
from mpi_es.run_file import checkpoint
from tests.faults.test_failures import TRAIN, ranks_of
from tests.launching import ENDLESS, LIMIT, assert_same, run_here, start, wait_until

UNSAVED = ("--max-iter", ENDLESS, "--checkpoint-interval", ENDLESS)
NUMBER_OF = """
import os, sys
from mpi_es import train
from mpi_es.parallel import launcher_watch
print(launcher_watch._outermost("MY_RANK"), os.getpid())
"""


def helper_of(rank):
    """Return the process that started a rank."""
    return int(Path("/proc", str(rank), "stat").read_text().rpartition(")")[2].split()[1])


def runs(process):
    """Return whether a process has not ended."""
    try:
        return Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children_of(process):
    """Return the processes that a process has started, such as its watchdog."""
    listing = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True).stdout
    return [int(child) for child in listing.split()]


@pytest.fixture
def begun(tmp_path):
    """Start a run on three ranks that would save once in a million generations; return launcher and ranks."""
    process = start(3, *TRAIN, *UNSAVED, "--run-dir", tmp_path / "run", "--console", "lines")
    ranks = ranks_of(process)
    for line in process.stdout:
        if line.split()[:1] == ["4"]:  # four generations are done, and none of them is saved
            break
    yield process, ranks
    for rank in ranks:
        if runs(rank):
            os.kill(rank, signal.SIGKILL)
    process.kill()
    process.communicate(timeout=LIMIT)


def saved_reason(run):
    content, warning = checkpoint.load(run)
    assert (content["progress"]["generation"] >= 4, warning) == (True, "")
    return content["life"]["reason"]


@pytest.mark.skipif(sys.platform != "linux", reason="the launcher's helper is found in /proc")
def test_ranks_whose_launchers_helper_is_killed_save_and_end_with_their_own_helpers_and_the_run_goes_on(
    begun, launch, exact, tmp_path
):
    _, ranks = begun
    watchdogs = children_of(ranks[0])
    assert watchdogs
    os.kill(helper_of(ranks[0]), signal.SIGKILL)
    wait_until(lambda: not any(map(runs, ranks + watchdogs)), "end of the ranks")
    reasons = ("stopped by the end of its launcher", "stopped by a signal on another rank")
    assert saved_reason(tmp_path / "run") in reasons
    done = checkpoint.load(tmp_path / "run")[0]["progress"]["generation"]
    options = ("--max-iter", done + 2, "--console", "silent")
    again = launch(2, "-m", "mpi_es.train", "--resume", tmp_path / "run", *options)
    assert (again.returncode, again.stderr) == (0, "")
    run_here(train, *TRAIN[2:], *options, "--run-dir", tmp_path / "calm")
    assert_same(exact(tmp_path / "run"), exact(tmp_path / "calm"))


def test_rank_0_saves_where_the_others_no_longer_answer(begun, tmp_path):
    _, ranks = begun
    os.kill(ranks[1], signal.SIGSTOP)
    os.kill(helper_of(ranks[0]), signal.SIGKILL)
    wait_until(lambda: not runs(ranks[0]), "end of rank 0")
    assert saved_reason(tmp_path / "run") == "stopped by the end of its launcher"


IN_A_SCRIPT = """
import os, sys, time
from mpi4py import MPI
import mpi_es
def slow(x):
    time.sleep(0.05)
    return (x**2).sum()
options = {"population_size": 6, "tolx": 0, "tolfun": 0, "run_dir": None, "console": "silent"}
options["comm"] = MPI.COMM_WORLD if sys.argv[1] else None
ranks = MPI.COMM_WORLD.gather(os.getpid())
mpi_es.minimise(slow, [1.0] * 3, max_iter=10**6, callback=lambda one: print(*ranks, flush=True), **options)
"""


@pytest.mark.parametrize("comm", ["", "comm"])
def test_ranks_of_a_script_that_started_mpi_itself_end_with_their_launchers_helper(comm):
    process = start(2, "-c", IN_A_SCRIPT, comm)
    ranks = [*map(int, process.stdout.readline().split())]
    os.kill(helper_of(ranks[0]), signal.SIGKILL)
    wait_until(lambda: not any(map(runs, ranks)), "end of the ranks")
    process.kill()
    process.communicate(timeout=LIMIT)


@pytest.mark.parametrize("script", ["", "true; "])
def test_a_script_around_a_rank_is_the_launchers_child(script):
    environ = os.environ | {"MY_RANK": "3"}
    command = ["sh", "-c", f"{script}{sys.executable} -c '{NUMBER_OF}'; true"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        outermost, inner = map(int, process.communicate(timeout=LIMIT)[0].split())
    assert (outermost, inner == process.pid) == (process.pid, False)


def test_without_a_script_it_is_the_rank():
    assert launcher_watch._outermost("NO_SUCH_VARIABLE") == os.getpid()
