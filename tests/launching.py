"""Starting our programs under mpiexec, and comparing what they wrote."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pytest

from mpi_es.parallel.collectives import SerialComm
from mpi_es.run_file import checkpoint
from mpi_es.status import generations

T = TypeVar("T")
ROOT = Path(__file__).parents[1]
MPIEXEC = Path(sys.prefix, "bin", "mpiexec")
LIMIT = 600  # seconds, after which a program hangs: on a machine that is shared it may be ten times as slow
ENDLESS = 1_000_000  # generations: no machine is so fast that a signal comes too late

# A program that begins the rest of its arguments in the terminal that is its standard input.
LEADER = """
import contextlib, fcntl, os, sys, termios
with contextlib.suppress(OSError):  # the terminal may have closed before
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # of which this process is the session's leader
os.environ["TERM"] = "xterm"
os.execv(sys.argv[1], sys.argv[1:])
"""


STARTED: list[subprocess.Popen] = []  # by the test under way


def start(ranks: int, *arguments: object, **options: object) -> subprocess.Popen:
    """Start `python -m …` on some ranks; what still runs when the test ends is killed."""
    launcher = [str(MPIEXEC), "-n", str(ranks)] if ranks else []
    command = [*launcher, sys.executable, *map(str, arguments)]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    STARTED.append(subprocess.Popen(command, **piped | options))
    return STARTED[-1]


def complete(ranks: int, *arguments: object, **options: object) -> subprocess.CompletedProcess:
    """Run `python …` on some ranks, 0 without mpiexec, and return what came out."""
    process = start(ranks, *arguments, **options)
    try:
        out, err = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
    return subprocess.CompletedProcess(
        process.args, process.returncode, out, err and apart_from_compiling(err)
    )


def apart_from_compiling(err: str) -> str:
    """Return the errors without the line that only slow machines print, where nothing was compiled before."""
    return re.sub(r"^(loading or )?compiling .*, up to a minute \(.*\n", "", err, flags=re.MULTILINE)


def call(*command: object, **options: object) -> subprocess.CompletedProcess:
    """Run any command, and return what came out."""
    captured = {"capture_output": True, "text": True, "timeout": LIMIT}
    done = subprocess.run([*map(str, command)], **captured | options)
    done.stderr = done.stderr and apart_from_compiling(done.stderr)
    return done


def refused(ranks: int, *arguments: object, **options: object) -> str:
    """Run `python …`, which a mistake must end with code 2 and one line of errors, and return that line."""
    done = complete(ranks, *arguments, **options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    return done.stderr


def run_here(program: ModuleType, *arguments: object) -> None:
    """Run one of our programs in this process, as its only rank."""
    assert program.main(SerialComm(), list(map(str, arguments))) == 0


def wait_until(condition: Callable[[], T], what: str) -> T:
    """Wait until something is true, and return it."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    pytest.fail(f"no {what} within {LIMIT} s")


def wait_for_generation(run: Path, generation: int) -> int:
    """Wait until a run has saved so many generations, and return how many they are."""
    return wait_until(lambda: (done := generations(run)) >= generation and done, f"generation {generation}")


def interrupt(run: Path, number: int, *launches: tuple) -> int:
    """Begin a run and go on with it, each time until a signal comes; return its last saved generation."""
    done = 0
    for ranks, *command in launches:
        process = start(ranks, *command, start_new_session=True)
        try:
            wait_for_generation(run, done + 4)
            process.send_signal(number)
            process.communicate(timeout=LIMIT)
        finally:
            process.kill()
        assert (process.returncode == 0) == (number != signal.SIGKILL)
        done = generations(run)  # it went on until the signal came
    return done


def exact_content(run: Path) -> dict:
    """Return all of a run's file that must not depend on who ran it."""
    content, warning = checkpoint.load(run)
    assert warning == ""
    names = ["state", "progress", "history", "evaluations", "best", "last"]
    return {name: content[name] for name in [*names, *(["constraints"] if "constraints" in content else [])]}


def assert_same(one: object, other: object, path: str = "") -> None:
    """Compare nested content to the last bit; NaN equals NaN."""
    assert type(one) is type(other), path
    if is_dataclass(one):
        one, other = vars(one), vars(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for name in one:
            assert_same(one[name], other[name], f"{path}/{name}")
    elif isinstance(one, tuple) or getattr(one, "dtype", None) == "O":
        for place, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{path}/{place}")
    elif hasattr(one, "tobytes"):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), path
    else:
        assert one == other or one != one, path
