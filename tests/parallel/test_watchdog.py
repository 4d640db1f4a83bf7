"""The watchdog's script where a rank dies as soon as its line is open, and runs in which a rank hangs."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from mpi_es.parallel import watchdog
from mpi_es.run_file import checkpoint
from tests.faults.test_failures import TRAIN
from tests.launching import LIMIT, assert_same

SLOW = pytest.mark.slow
ROOT = Path(__file__).parents[2]
HANGING = ("--env", "tests.faults.broken_envs:hanging", "--console", "silent", "--envs-per-rank", "2")
HANGING += ("--checkpoint-interval", "0")
RANK = """
import os, signal, socket, sys
door, word, death = sys.argv[1:]
line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
line.connect(b"\\0" + door.encode())
line.sendall(word.encode())
if death == "with the word unread":
    line.recv(1, socket.MSG_PEEK)
os.kill(os.getpid(), signal.SIGKILL)
"""


@contextmanager
def process_that_lives():
    """A process, ended when the block is left."""
    with subprocess.Popen(["sleep", "infinity"]) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def watching(whom, *ranks):
    """The door and the process of a watchdog."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind("")  # Linux chooses a name, of no file
        door.listen()
        command = [sys.executable, watchdog.__file__, whom, str(door.fileno()), *ranks]
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, pass_fds=[door.fileno()], **streams) as watch:
            yield door, watch


@pytest.mark.parametrize("death", ["before it is let in", "with the word unread"])
def test_a_rank_that_dies_as_soon_as_its_line_is_open_is_named(death):
    with process_that_lives() as body:
        rank = f"{body.pid}:1"  # its line ends, its process does not
        with watching(watchdog.FIRST, f"{os.getpid()}:0", rank) as (door, watch):
            if death == "before it is let in":
                watch.send_signal(signal.SIGSTOP)
            name = door.getsockname()[1:].decode()
            subprocess.run([sys.executable, "-c", RANK, name, rank, death], timeout=LIMIT, check=False)
            watch.send_signal(signal.SIGCONT)
            _, err = watch.communicate(timeout=LIMIT)
    assert re.fullmatch(rf"error: rank 1 on \S+ \(process {body.pid}\) died at .*\n", err)


def test_where_the_others_outlive_the_first_they_are_watched_until_they_end():
    with (
        process_that_lives() as first,
        process_that_lives() as second,
        watching(watchdog.EACH, f"{first.pid}:0", f"{second.pid}:1") as (_, watch),
    ):
        first.kill()
        # A launcher ends once nobody holds the first rank's output open.
        assert re.fullmatch(r"error: rank 0 on .*\n", watch.stderr.read())
        assert watch.poll() is None
        second.kill()
        assert watch.wait(timeout=LIMIT) == 0


@pytest.mark.parametrize(
    ("ranks", "dispatch"),
    [pytest.param(0, "static", marks=SLOW), pytest.param(2, "static", marks=SLOW), (3, "dynamic")],
)
def test_a_simulator_that_hangs_ends_the_job_with_its_rank_and_candidate(launch, tmp_path, ranks, dispatch):
    options = (*HANGING, "--dispatch", dispatch, "--max-iter", 1000, "--evaluation-timeout", 5)
    done = launch(ranks, *TRAIN, *options, "--run-dir", tmp_path / "run", cwd=ROOT)
    assert done.returncode != 0
    told = r"error: rank \d on \S+ hangs: no episode began or ended for 5 s \(--evaluation-timeout\); "
    assert re.search(told + r"running: candidate \d+, episode seed \d+", done.stderr)
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] > 0


def test_the_run_continues_after_a_hang_as_if_there_had_been_none(launch, exact, tmp_path):
    options = (*HANGING, "--max-iter", 20, "--evaluation-timeout", LIMIT, "--num-eval-rollouts", 3)
    calm = os.environ | {"NO_HANG": "1"}
    assert launch(2, *TRAIN, *options, "--run-dir", tmp_path / "calm", cwd=ROOT, env=calm).returncode == 0
    hangs = (*options, "--evaluation-timeout", 5, "--run-dir", tmp_path / "run")
    assert launch(2, *TRAIN, *hangs, cwd=ROOT).returncode != 0
    resume = ("--resume", tmp_path / "run", "--evaluation-timeout", LIMIT)
    again = launch(2, "-m", "mpi_es.train", *resume, cwd=ROOT, env=calm)
    assert again.returncode == 0, again.stderr
    assert_same(exact(tmp_path / "run"), exact(tmp_path / "calm"))
