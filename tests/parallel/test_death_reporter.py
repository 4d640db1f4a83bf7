"""The sentry's own script, where a rank dies as soon as it has opened its line to it."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest

from mpi_es.parallel import death_reporter

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


@pytest.mark.parametrize("death", ["before it is let in", "with the word unread"])
def test_a_rank_that_dies_as_soon_as_its_line_is_open_is_named(death):
    with socket.socket(socket.AF_UNIX) as door, subprocess.Popen(["sleep", "60"]) as body:
        door.bind("")  # Linux chooses a name, of no file
        door.listen()
        rank = f"{body.pid}:1"  # its line ends, its process does not
        options = [death_reporter.FIRST, str(door.fileno()), f"{os.getpid()}:0", rank]
        command = [sys.executable, death_reporter.__file__, *options]
        with subprocess.Popen(command, pass_fds=[door.fileno()], stderr=subprocess.PIPE, text=True) as watch:
            if death == "before it is let in":
                watch.send_signal(signal.SIGSTOP)
            name = door.getsockname()[1:].decode()
            subprocess.run([sys.executable, "-c", RANK, name, rank, death], timeout=20, check=False)
            watch.send_signal(signal.SIGCONT)
            _, err = watch.communicate(timeout=20)
        body.kill()
    assert re.fullmatch(rf"error: rank 1 on \S+ \(process {body.pid}\) died at .*\n", err)
