"""The watchdog's script where a rank dies as soon as it is connected, and runs in which a rank hangs."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from mpi_es import train
from mpi_es.parallel import watchdog
from mpi_es.run_file import checkpoint
from tests.faults.test_failures import TRAIN
from tests.launching import LIMIT, ROOT, assert_same, run_here

SLOW = pytest.mark.slow
HANGING = ("--env", "tests.faults.broken_envs:hanging", "--console", "silent", "--envs-per-rank", "2")
HANGING += ("--num-eval-rollouts", "3")
HANGING += ("--checkpoint-interval", "0")
RANK = """
import os, signal, socket, sys
listener, word, death = sys.argv[1:]
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect(b"\\0" + listener.encode())
connection.sendall(word.encode())
if death == "with the word unread":
    connection.recv(1, socket.MSG_PEEK)
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
def watching(reported, *ranks):
    """The listener and the process of a watchdog."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind("")  # Linux chooses a name, of no file
        listener.listen()
        command = [sys.executable, watchdog.__file__, reported, str(listener.fileno()), *ranks]
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, pass_fds=[listener.fileno()], **streams) as watch:
            yield listener, watch


@pytest.mark.parametrize("death", ["before it is let in", "with the word unread"])
def test_a_rank_that_dies_as_soon_as_its_line_is_open_is_named(death):
    with process_that_lives() as body:
        rank = f"{body.pid}:1"  # its connection ends, its process does not
        with watching(watchdog.FIRST, f"{os.getpid()}:0", rank) as (listener, watch):
            if death == "before it is let in":
                watch.send_signal(signal.SIGSTOP)
            name = listener.getsockname()[1:].decode()
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


def test_a_job_that_was_suspended_has_not_hung():
    with process_that_lives() as body, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        rank, now = f"{body.pid}:0", time.monotonic()
        watch = watchdog.Watchdog(watchdog.NONE, listener, [rank])
        watch.slots[rank] = os.memfd_create("slot")
        os.write(watch.slots[rank], watchdog.HEAD.pack(now - 100, 60).ljust(watchdog.SLOT, b"\0"))
        watch.looked = watch.resumed = now - 90
        watch._kill_hanging()
        with pytest.raises(subprocess.TimeoutExpired):
            body.wait(timeout=0.5)
        watch.resumed -= 70
        watch._kill_hanging()
        assert body.wait(timeout=LIMIT) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("ranks", "dispatch"),
    [pytest.param(0, "static", marks=SLOW), pytest.param(2, "static", marks=SLOW), (3, "dynamic")],
)
def test_a_simulator_that_hangs_ends_the_job_with_its_rank_and_candidate_and_the_run_continues(
    launch, exact, monkeypatch, tmp_path, ranks, dispatch
):
    limit, run = "--evaluation-timeout", tmp_path / "run"
    hangs = ("--dispatch", dispatch, "--max-iter", 20, limit, 5, "--run-dir", run)
    done = launch(ranks, *TRAIN, *HANGING, *hangs, cwd=ROOT)
    assert done.returncode != 0
    told = r"error: rank \d on \S+ hangs: no episode began or ended for 5 s \(--evaluation-timeout\); "
    assert re.search(told + r"running: candidate \d+, episode seed \d+", done.stderr)
    assert checkpoint.load(run)[0]["progress"]["generation"] > 0
    monkeypatch.setenv("NO_HANG", "1")
    again = launch(2, "-m", "mpi_es.train", "--resume", run, limit, LIMIT, cwd=ROOT)
    assert again.returncode == 0, again.stderr
    run_here(train, *TRAIN[2:], *HANGING, "--max-iter", 20, "--run-dir", tmp_path / "calm")
    assert_same(exact(run), exact(tmp_path / "calm"))
