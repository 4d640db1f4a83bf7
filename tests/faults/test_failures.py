"""What fails while a run is under way ends it with one message, and never hangs."""

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from mpi_es.run_file import checkpoint
from tests.launching import start

ROOT = Path(__file__).parents[2]
SMALL = ("--env", "CartPole-v1", "--population-size", "12", "--hidden", "4")
TRAIN = ("-m", "mpi_es.train", "--no-tensorboard", *SMALL)


@pytest.mark.parametrize(("ranks", "dispatch"), [(0, "dynamic"), (2, "static"), (5, "dynamic")])
def test_a_rollout_that_raises_is_told_once_with_its_traceback(launch, tmp_path, ranks, dispatch):
    options = ("--env", "tests.faults.broken_envs:raising", "--dispatch", dispatch, "--console", "silent")
    done = launch(ranks, *TRAIN, *options, "--run-dir", tmp_path / "run", cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.count("Traceback") == 1
    place = r"error: rank \d+ on \S+: candidate \d+, episode seed \d+, step 2: "
    assert re.match(place + "ValueError: the simulator broke\n", done.stderr)


@pytest.mark.parametrize("ranks", [0, 3])
def test_a_return_that_is_no_number_is_told(launch, tmp_path, ranks):
    options = ("--env", "tests.faults.broken_envs:nan", "--console", "silent")
    done = launch(ranks, *TRAIN, *options, "--run-dir", tmp_path / "run", cwd=ROOT)
    assert done.returncode == 2
    assert "expected a finite return, got nan" in done.stderr


def ranks_of(process: subprocess.Popen) -> list[int]:
    """Return the process ids of an mpiexec's ranks, once they are there."""
    for _ in range(200):
        listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
        rows = [line.split(None, 2) for line in listing.splitlines()[1:]]
        children = {process.pid}
        for _ in range(3):  # mpiexec, its proxy, the ranks
            children |= {int(pid) for pid, parent, _ in rows if int(parent) in children}
        found = [int(pid) for pid, _, args in rows if int(pid) in children and " -m mpi_es" in args]
        found = [pid for pid in found if pid != process.pid]
        if len(found) == 3:
            return found
        time.sleep(0.05)
    pytest.fail("no ranks")


@pytest.mark.parametrize("victim", [0, 1, 2])
def test_a_rank_that_dies_ends_the_job_and_leaves_the_last_checkpoint(tmp_path, victim):
    run = tmp_path / "run"
    process = start(3, *TRAIN, "--max-iter", "100000", "--run-dir", run, "--console", "lines")
    ranks = ranks_of(process)
    while not (run / "run.previous.h5").exists():
        time.sleep(0.05)
    os.kill(ranks[victim], signal.SIGKILL)
    begin = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begin < 5
    assert process.returncode != 0
    assert re.findall(r"error: (rank \d+ on .* died) at", out + err) == [
        f"rank {victim} on {socket.gethostname()} (process {ranks[victim]}) died"
    ]
    content, warning = checkpoint.load(run)
    assert (content["progress"]["generation"] > 0, warning) == (True, "")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_ends_the_run_with_its_last_checkpoint_whole(launch, tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", tmp_path], check=True)
    try:
        done = launch(2, *TRAIN, "--max-iter", "100000", "--run-dir", tmp_path / "run", "--console", "silent")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "No space left on device" in done.stderr
        assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] > 0
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_second_ctrl_c_does_not_hang(tmp_path):
    process = start(2, *TRAIN, "--max-iter", "100000", "--run-dir", tmp_path / "run")
    while not (tmp_path / "run" / "run.h5").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
