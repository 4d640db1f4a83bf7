"""What fails while a run is under way ends it with one message, and never hangs."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from mpi_es.run_file import checkpoint
from tests.launching import ENDLESS, LIMIT, ROOT, refused, start, wait_until

SMALL = ("--env", "CartPole-v1", "--population-size", "12", "--hidden", "4")
TRAIN = ("-m", "mpi_es.train", "--no-tensorboard", *SMALL)
SAVED = ("--checkpoint-interval", 0)  # after each generation


PLACE = r"error: rank \d+ on \S+: candidate \d+, episode seed \d+, step 2: "


@pytest.mark.parametrize(
    ("how", "ranks", "dispatch", "told", "tracebacks"),
    [
        ("raising", 5, "dynamic", PLACE + "ValueError: the simulator broke\n", 1),
        ("exiting", 2, "static", PLACE + "SystemExit: 3\n", 1),
        ("panicking", 2, "dynamic", PLACE + "Panic\n", 1),
        ("nan", 3, "auto", r"error: .*expected a finite return, got nan", 0),
    ],
)
def test_a_rollout_that_fails_is_told_once_with_its_traceback(
    launch, tmp_path, how, ranks, dispatch, told, tracebacks
):
    options = ("--env", f"tests.faults.broken_envs:{how}", "--dispatch", dispatch, "--console", "silent")
    done = launch(ranks, *TRAIN, *options, "--run-dir", tmp_path / "run", cwd=ROOT)
    assert (done.returncode, done.stderr.count("Traceback")) == (2, tracebacks)
    assert re.match(told, done.stderr)


def ranks_of(process: subprocess.Popen) -> list[int]:
    """Return the process ids of the three ranks of an mpiexec, in their order, once they are there."""

    def found() -> list[int]:
        listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
        rows = [line.split(None, 2) for line in listing.splitlines()[1:]]
        children = {process.pid}
        for _ in range(3):  # mpiexec, its proxy, the ranks
            children |= {int(pid) for pid, parent, _ in rows if int(parent) in children}
        pids = [int(pid) for pid, _, args in rows if int(pid) in children and " -m mpi_es" in args]
        return sorted((pid for pid in pids if rank_of(pid) >= 0), key=rank_of)

    return wait_until(lambda: len(ranks := found()) == 3 and ranks, "ranks")


def rank_of(pid: int) -> int:
    """Return the rank that MPICH's launcher gave to a process, or -1 where it gave none yet."""
    environ = Path("/proc", str(pid), "environ").read_bytes().decode(errors="replace")
    return int(environ.partition("PMI_RANK=")[2].partition("\0")[0] or -1)


@pytest.mark.parametrize("victim", [0, 2])
def test_a_rank_that_dies_ends_the_job_and_leaves_the_last_checkpoint(tmp_path, victim):
    run = tmp_path / "run"
    process = start(3, *TRAIN, *SAVED, "--max-iter", ENDLESS, "--run-dir", run, "--console", "lines")
    ranks = ranks_of(process)
    wait_until((run / "run.previous.h5").exists, "second save")
    os.kill(ranks[victim], signal.SIGKILL)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode != 0
    assert re.findall(r"error: (rank \d+ on .* died) at", out + err) == [
        f"rank {victim} on {socket.gethostname()} (process {ranks[victim]}) died"
    ]
    content, warning = checkpoint.load(run)
    assert (content["progress"]["generation"] > 0, warning) == (True, "")


def test_a_full_disk_ends_the_run_with_its_last_checkpoint_whole(tmp_path, small_disk):
    small_disk(160)
    run = ("--run-dir", tmp_path / "run", "--console", "silent")
    assert "No space left on device" in refused(2, *TRAIN, *SAVED, "--max-iter", ENDLESS, *run)
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] > 0


def test_a_second_ctrl_c_does_not_hang(tmp_path):
    process = start(2, *TRAIN, "--max-iter", ENDLESS, "--run-dir", tmp_path / "run")
    wait_until((tmp_path / "run" / "run.h5").exists, "save")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert "Traceback" not in err
    assert checkpoint.load(tmp_path / "run")[1] == ""


CALLS = """
import subprocess
def f(x):
    subprocess.run(["sleep", "0.3"], check=True)
    return (x**2).sum()
"""


def test_a_signal_that_also_ends_the_program_of_a_call_stops_the_run(tmp_path):
    (tmp_path / "calls.py").write_text(CALLS)
    options = ("--function", "calls:f", "--x0", 1, 1, "--max-iter", ENDLESS, "--run-dir", "run")
    process = start(0, "-m", "mpi_es.train", *options, cwd=tmp_path, start_new_session=True)
    wait_until((tmp_path / "run" / "run.h5").exists, "save")
    os.killpg(process.pid, signal.SIGTERM)
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (0, "")
    assert "stopped by SIGTERM" in out
