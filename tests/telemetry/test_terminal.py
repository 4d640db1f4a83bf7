import io
import math
import os
import pty
import subprocess
import sys

import pytest
from rich.console import Console

from mpi_es.telemetry.terminal import Anchor, Chart, chart, find_terminal
from tests.launching import LIMIT, MPIEXEC, ROOT


@pytest.mark.parametrize(
    ("values", "line"), [([], ""), ([3, 3], "▅▅"), ([0, 7], "▁█"), ([0, 0, 7, 7], "▁█"), ([7, 0], "█▁")]
)
def test_a_line_of_blocks(values, line):
    assert chart(values, 2, 1) == [line]


def test_a_line_without_room_is_one_character():
    assert chart([0, 7], -3, 1) == ["▅"]


def test_several_lines_have_eight_levels_each():
    assert chart([0, 15], 2, 2) == [" █", "▁█"]
    assert chart([0, 7, 8, 15], 4, 2) == ["  ▁█", "▁███"]
    assert chart([5, 5], 2, 2) == ["▁▁", "██"]
    assert chart([0, 15], 3, 2) == [" ▁█", "▁██"]
    assert chart([0, 3], 2, 4, blocks="#") == [" #", " #", " #", "##"]


@pytest.mark.parametrize(
    ("encoding", "drawn"), [("utf-8", ["  █  9", " ▅█", "▁██  1"]), ("ascii", ["  #  9", " -#", "_##  1"])]
)
def test_extremes_stand_beside_several_lines(encoding, drawn):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=6).print(Chart([1, math.nan, 9], 3))
    stream.flush()
    assert [line.rstrip() for line in stream.buffer.getvalue().decode().splitlines()] == drawn


def on_a_terminal(tmp_path, program, launch=()):
    """Return the exit code and what a terminal gets to see from a program under `launch`."""
    master, slave = pty.openpty()
    (tmp_path / "program.py").write_text(program)
    command = [*map(str, launch), sys.executable, str(tmp_path / "program.py")]
    environ = os.environ | {"TERM": "xterm", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env=environ)
    os.close(slave)
    seen = b""
    with open(master, "rb", buffering=0) as terminal:
        try:
            while chunk := terminal.read(4096):
                seen += chunk
        except OSError:  # how Linux tells that the last writer is gone
            pass
    return process.wait(LIMIT), seen.decode()


TELL = """
from mpi_es.config.run import configured
from mpi_es.telemetry.sinks import open_telemetry
from mpi_es.telemetry.view import view_of
from tests.telemetry.records import report
config = configured(tensorboard=False)
report(open_telemetry(config, "/nowhere", view_of(config)))
"""


@pytest.mark.parametrize("launch", [(), (MPIEXEC, "-n", 1)], ids=["alone", "below mpiexec"])
def test_a_terminal_gets_the_panel(tmp_path, launch):
    if launch and not MPIEXEC.exists():
        pytest.skip("the mpich wheel is not installed")
    code, seen = on_a_terminal(tmp_path, TELL, launch)
    assert code == 0
    assert "╭─" in seen
    assert "held-out" in seen
    assert seen.index("a fact") < seen.index("╭─") < seen.rindex("reached the end")


def test_an_exception_leaves_the_cursor(tmp_path):
    program = TELL.replace("report(open", "with (open")
    program = program.rstrip() + " as T:\n    T.start([], 0)\n    raise RuntimeError('boom')\n"
    code, seen = on_a_terminal(tmp_path, program)
    assert code == 1
    assert "boom" in seen
    assert seen.rindex("\x1b[?25h") > seen.rindex("\x1b[?25l")


def test_a_launcher_that_writes_to_a_file_gets_lines(tmp_path):
    # Open MPI and `srun -u` give their ranks a pseudo-terminal, as this launcher does.
    (tmp_path / "program.py").write_text(TELL)
    rank = [sys.executable, str(tmp_path / "program.py")]
    launcher = f"import pty; open('/proc/self/comm', 'w').write('mpirun'); pty.spawn({rank})"
    environ = os.environ | {"TERM": "xterm", "PYTHONPATH": str(ROOT)}
    log = tmp_path / "log"
    with log.open("w") as file:
        command = [sys.executable, "-c", launcher]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, cwd=ROOT, env=environ, timeout=LIMIT)
    assert log.read_text().startswith("a fact\n gen")


def test_a_dumb_terminal_is_none(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert find_terminal(sys.stdout) is None


def test_a_drawing_is_found_again_whatever_is_printed_into_the_room_below_it():
    """Up two lines and save the cursor; restore it and down two lines."""
    screen = io.StringIO()
    anchor = Anchor(screen)
    anchor.holds = True
    for text, written in (("first", "first\x1b[2A\x1b7"), ("second", "\x1b8\x1b[2Bsecond\x1b[2A\x1b7")):
        screen.seek(0), screen.truncate()
        anchor.write(text)
        assert screen.getvalue() == written
    anchor.holds = False
    screen.seek(0), screen.truncate()
    anchor.write("last, ")
    anchor.write("and what follows")
    assert screen.getvalue() == "\x1b8\x1b[2Blast, and what follows"
