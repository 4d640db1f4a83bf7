"""Compile in a separate process: numba and LLVM hold hundreds of megabytes until a process ends."""

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from typing import Any


def compile_apart(module: str, task: tuple[Any, ...]) -> None:
    """Run a module that compiles the task; if it fails, the caller compiles too, and gets the error."""
    command, nowhere = [sys.executable, "-m", module], subprocess.DEVNULL
    with (
        contextlib.suppress(OSError),
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere) as process,
    ):
        assert process.stdin is not None
        pickle.dump(task, process.stdin)
        process.stdin.flush()
        process.wait()


def read_task() -> Any:
    """Return the task, in the process that compiles; that process ends as soon as the caller does."""
    task = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_the_caller, daemon=True).start()
    return task


def _end_with_the_caller() -> None:
    os.read(sys.stdin.fileno(), 1)  # returns when the pipe is closed
    os._exit(1)
