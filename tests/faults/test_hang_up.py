"""A terminal that closes under a run without mpiexec: the run saves and ends, or goes on under nohup."""

import os
import pty
import re
import signal
import subprocess
import sys

import pytest

from mpi_es.run_file import checkpoint
from tests.faults.test_failures import SAVED, TRAIN
from tests.launching import ENDLESS, LEADER, LIMIT, apart_from_compiling, start, wait_until

UNSAVED = ("--max-iter", ENDLESS, "--checkpoint-interval", ENDLESS)


def in_terminal(*words, **options):
    """Start a program in a terminal of its own; return it and the terminal."""
    outer, inner = pty.openpty()
    command = ("-c", LEADER, sys.executable, *words)
    process = start(0, *command, stdin=inner, stdout=inner, start_new_session=True, **options)
    os.close(inner)
    return process, outer


def read_until(terminal, sign):
    """Read what a program shows until it contains what the expression describes."""
    shown = b""
    while not re.search(sign, shown):
        shown += os.read(terminal, 4096)
    return shown


@pytest.mark.parametrize("console", ["live", "lines"])
def test_a_run_whose_terminal_closes_saves_and_ends(tmp_path, console):
    options = (*UNSAVED, "--run-dir", tmp_path / "run", "--console", console)
    with open(tmp_path / "errors", "w") as errors:
        process, terminal = in_terminal(*TRAIN, *options, stderr=errors)
        read_until(terminal, b"seconds" if console == "live" else rb"\n +3 ")
        os.close(terminal)
        process.wait(LIMIT)
    assert (process.returncode, (tmp_path / "errors").read_text()) == (0, "")
    content, warning = checkpoint.load(tmp_path / "run")
    assert (content["life"]["reason"], warning) == ("stopped by SIGHUP", "")
    assert content["progress"]["generation"] > 0


def test_a_run_under_nohup_outlives_its_terminal(tmp_path):
    run = tmp_path / "run"
    with open(tmp_path / "out", "w") as out:
        options = (*SAVED, "--max-iter", ENDLESS, "--run-dir", run, "--console", "lines")
        process = subprocess.Popen(
            ["nohup", sys.executable, *map(str, (*TRAIN, *options))],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
        try:
            wait_until((run / "run.h5").exists, "first save")
            process.send_signal(signal.SIGHUP)
            before = checkpoint.load(run)[0]["progress"]["generation"]
            wait_until(lambda: checkpoint.load(run)[0]["progress"]["generation"] > before + 1, "progress")
            process.terminate()
            process.wait(LIMIT)
        finally:
            process.kill()
    assert process.returncode == 0
    assert checkpoint.load(run)[0]["life"]["reason"] == "stopped by SIGTERM"


def test_a_run_whose_reader_has_left_saves_and_ends(tmp_path):
    options = (*UNSAVED, "--run-dir", tmp_path / "run", "--console", "lines")
    process = start(0, *TRAIN, *options)
    for line in process.stdout:
        if line.split()[:1] == ["3"]:
            break
    process.stdout.close()
    err = process.stderr.read()
    assert (process.wait(LIMIT), apart_from_compiling(err)) == (0, "")
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] >= 3
