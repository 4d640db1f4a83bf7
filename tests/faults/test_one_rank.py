"""What happens to one rank only, or between two collectives, ends the job all the same."""

import os
import re
import signal
import subprocess

import pytest

from mpi_es.run_file import checkpoint
from tests.faults.test_failures import SAVED, TRAIN, ranks_of
from tests.launching import LIMIT, ROOT, apart_from_compiling, refused, start, wait_until

QUIET = ("--console", "silent")
CARTPOLE = ("--env", "CartPole-v1")


def test_an_environment_that_one_rank_lacks_is_told_by_one_line(tmp_path):
    options = ("--env", "tests.faults.broken_envs:lacking", "--strategy", "openai_es")
    line = refused(3, *TRAIN, *options, "--run-dir", tmp_path / "run", cwd=ROOT)
    assert line == "error: --env: not on rank 1\n"


def test_an_environment_with_another_space_on_one_rank_is_refused(tmp_path):
    options = ("--env", "tests.faults.broken_envs:differing", "--hidden", 2)
    line = refused(3, *TRAIN, *options, "--run-dir", tmp_path / "run", cwd=ROOT)
    rule = r"expected rank 0's observations Box\(.*\(2,\), float32\), actions Discrete\(2\), 12 parameters, "
    assert re.search(rule + r"got observations Box\(.*\(3,\).* on rank 1, on", line)


@pytest.mark.parametrize("victim", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_a_signal_to_one_rank_without_episodes_stops_the_run(tmp_path, victim):
    # Rank 0 only directs, and of two others one gets the only episode there is at a time.
    few = ("--population-size", 4, "--no-track-centre", "--dedicated-root", "yes", "--max-iter", 10**6)
    process = start(3, *TRAIN, *SAVED, *few, *QUIET, "--run-dir", tmp_path / "run")
    ranks = ranks_of(process)
    wait_until((tmp_path / "run" / "run.previous.h5").exists, "second save")
    os.kill(ranks[victim], signal.SIGTERM)
    _, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, apart_from_compiling(err)) == (0, "")


def test_a_disk_that_events_fill_ends_the_run_in_one_line(tmp_path, small_disk):
    small_disk(64)
    options = ("--population-size", 4, "--hidden", 2, "--checkpoint-interval", 10**6, "--max-iter", 10**6)
    line = refused(2, "-m", "mpi_es.train", *CARTPOLE, *options, *QUIET, "--run-dir", tmp_path / "run")
    assert "--tensorboard: cannot write" in line
    assert checkpoint.load(tmp_path / "run")[1] == ""


def test_a_rollout_that_fails_loses_no_generation_that_was_whole(launch, tmp_path):
    options = ("--env", "tests.faults.broken_envs:late", "--checkpoint-interval", 1000, *QUIET)
    done = launch(2, *TRAIN, *options, "--run-dir", tmp_path / "run", cwd=ROOT)
    assert done.returncode == 2
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] > 0


WATCHED = """
import os, subprocess
from mpi_es.parallel.entry_point import launch
def main(comm, arguments):
    if comm.rank == 0:
        subprocess.run(["pkill", "-KILL", "-P", str(os.getpid()), "-f", "watchdog.py"], check=True)
    return 0
launch(main)
"""


def test_a_watchdog_that_was_killed_does_not_take_the_job_with_it(launch):
    done = launch(2, "-c", WATCHED)
    assert (done.returncode, done.stderr) == (0, "")


VICTIM = """
import os, signal, sys, time
from mpi_es.parallel.entry_point import launch
def main(comm, arguments):
    if comm.rank == int(arguments[0]):
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1000)
launch(main)
"""


@pytest.mark.parametrize("victim", [0, 1, 2])
def test_the_rank_that_dies_is_named_and_not_those_that_the_launcher_ends(launch, victim):
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4)]
    try:
        done = launch(3, "-c", VICTIM, victim)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    named = re.findall(r"^error: rank (\d) on .* died", done.stderr, re.MULTILINE)
    assert named == [str(victim)]


SLOW = """
import time
from mpi_es.parallel.collective_errors import on_root
from mpi_es.parallel.entry_point import launch
def main(comm, arguments):
    print("ready\\n", end="", flush=True)  # in one piece, however Python buffers: two ranks say it
    on_root(comm, lambda: time.sleep(1000))
launch(main)
"""


def test_ctrl_c_before_the_run_begins_ends_all_ranks_quietly():
    process = start(2, "-c", SLOW)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode != 0
    assert "Traceback" not in err
