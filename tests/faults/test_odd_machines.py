"""Odd systems and file systems: what they break is one line."""

import os
import shutil
import sys

import pytest

from mpi_es import train
from mpi_es.run_file import checkpoint
from tests.faults.test_failures import SAVED, SMALL, TRAIN
from tests.launching import (
    ENDLESS,
    LIMIT,
    apart_from_compiling,
    assert_same,
    call,
    run_here,
    start,
    wait_for_generation,
)

QUIET = ("--console", "silent")
NEEDS_STRACE = pytest.mark.skipif(shutil.which("strace") is None, reason="errors are injected by strace")


def test_python_without_asserts_runs_the_same(launch, exact, tmp_path):
    options = (*SMALL, "--no-tensorboard", "--max-iter", 3, *QUIET, "--run-dir")
    run_here(train, *options, tmp_path / "calm")
    done = launch(2, "-O", "-m", "mpi_es.train", *options, tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(exact(tmp_path / "run"), exact(tmp_path / "calm"))


def test_a_run_whose_directory_another_run_takes_ends_and_leaves_it_alone(tmp_path):
    run, moved, other = tmp_path / "run", tmp_path / "moved", tmp_path / "other"
    run_here(train, *SMALL, "--max-iter", 1, "--seed", 5, *QUIET, "--run-dir", other)
    process = start(2, *TRAIN, *SAVED, "--max-iter", ENDLESS, *QUIET, "--run-dir", run)
    wait_for_generation(run, 2)
    run.rename(moved)
    other.rename(run)
    _, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, apart_from_compiling(err).count("\n")) == (2, 1)
    assert err.startswith(f"error: {run}: was moved, replaced or removed")
    assert checkpoint.load(run)[0]["config"]["seed"] == 5
    assert checkpoint.load(moved)[0]["progress"]["generation"] >= 2


def injected(error, calls, directory, when, *command):
    """Run a command whose system calls fail in a directory, from the n-th one on."""
    files = [directory, *(directory / name for name in ("run.h5", "run.previous.h5", ".run.h5.tmp", ".lock"))]
    paths = [word for path in files for word in ("-P", str(path))]
    inject = ["-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={when}+"]
    strace = ["strace", "-f", "--seccomp-bpf", "-o", os.devnull, *paths, *inject]
    return call(*strace, sys.executable, *command)


@NEEDS_STRACE
@pytest.mark.parametrize(
    ("calls", "error", "when"),
    [("%file", "ESTALE", 1), ("%%stat", "ESTALE", 12), ("%file", "ENOTCONN", 30), ("fsync", "EIO", 3)],
)
def test_a_file_system_that_goes_away_is_one_line(tmp_path, calls, error, when):
    run = tmp_path / "run"
    done = injected(error, calls, run, when, *TRAIN, *QUIET, *SAVED, "--run-dir", run)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(f"error: {run}")


@NEEDS_STRACE
def test_a_run_on_a_file_system_that_went_away_is_one_line(tmp_path):
    run = tmp_path / "run"
    run_here(train, *SMALL, "--max-iter", 1, *QUIET, "--run-dir", run)
    for when in (1, 2):
        done = injected("ESTALE", "%file", run, when, "-m", "mpi_es.status", run)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert done.stderr.startswith("error: ")
