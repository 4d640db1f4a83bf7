"""The death reporter's own script, where a rank dies as soon as it has opened its line to it."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from mpi_es.parallel import death_reporter
from tests.launching import LIMIT

RANK = """
import os, signal, socket, sys
door, word, death = sys.argv[1:]
line = socket.socket(socket.AF_UNIX)
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


@pytest.mark.parametrize("death", ["before it is let in", "with the word unread"])
def test_a_rank_that_dies_as_soon_as_its_line_is_open_is_named(death):
    with socket.socket(socket.AF_UNIX) as door, process_that_lives() as body:
        door.bind("")  # Linux chooses a name, of no file
        door.listen()
        rank = f"{body.pid}:1"  # its line ends, its process does not
        options = [death_reporter.FIRST, str(door.fileno()), f"{os.getpid()}:0", rank]
        command = [sys.executable, death_reporter.__file__, *options]
        with subprocess.Popen(command, pass_fds=[door.fileno()], stderr=subprocess.PIPE, text=True) as watch:
            if death == "before it is let in":
                watch.send_signal(signal.SIGSTOP)
            name = door.getsockname()[1:].decode()
            subprocess.run([sys.executable, "-c", RANK, name, rank, death], timeout=LIMIT, check=False)
            watch.send_signal(signal.SIGCONT)
            _, err = watch.communicate(timeout=LIMIT)
    assert re.fullmatch(rf"error: rank 1 on \S+ \(process {body.pid}\) died at .*\n", err)
