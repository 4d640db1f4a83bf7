import subprocess
import sys

from tests.launching import LIMIT

PROGRAM = """
import os, sys
from mpi_es.parallel.output import drop_unread
sys.stdin.readline()
gone = drop_unread()
print("a line", flush=True)
print(gone, file=sys.stderr)
"""


def run_with(stdout, close):
    """Run the program with this output, whose other end is closed meanwhile; return what it says of it."""
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE, text=True
    ) as process:
        close(process)
        return process.communicate("go\n", timeout=LIMIT)[1]


def test_an_output_whose_reader_has_left_is_dropped():
    assert run_with(subprocess.PIPE, lambda process: process.stdout.close()) == "True\n"


def test_an_output_that_is_read_or_a_file_is_kept(tmp_path):
    assert run_with(subprocess.PIPE, lambda process: None) == "False\n"
    with open(tmp_path / "log", "w") as log:
        assert run_with(log, lambda process: None) == "False\n"
    assert (tmp_path / "log").read_text() == "a line\n"
