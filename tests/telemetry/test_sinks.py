import io
import math
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from mpi_es.config.run import Config
from mpi_es.run_file.records import scalars
from mpi_es.telemetry.lines import Lines, TimeLeft
from mpi_es.telemetry.panel import Course, draw
from mpi_es.telemetry.sinks import HeldOut, Telemetry, Timing, open_telemetry, summarize
from mpi_es.telemetry.tensorboard import TensorBoard
from mpi_es.telemetry.terminal import find_terminal, sparkline
from mpi_es.text import clock, number

ROOT = Path(__file__).parents[2]
MPIEXEC = Path(sys.executable).with_name("mpiexec")
FITNESS = np.array([1.0, 2.0, 3.0, 10.0])
TIMING = Timing(0.1, 2.0, 0.3, 0.4, 3.0, 8.0, 100.0, 0.25)


def row(generation=1, shift=0.0, **known):
    return summarize(generation, FITNESS + shift, np.array([[2, 4], [6, 8]]), sigma=0.5, **known)


def held_out(generation=1):
    return HeldOut(generation, np.array([4.0, 6.0]))


def test_a_row_summarises_a_generation():
    known = row(7, mean_fitness=2.5, learning_rate=0.1, episode_cap=9)
    assert (known.best, known.mean, known.min, known.std) == (10, 4, 1, FITNESS.std())
    assert (known.elite, known.mean_rank) == (1, 2)
    assert (known.generation, known.episodes, known.steps, known.mean_length) == (7, 4, 20, 5)


def test_a_mean_above_all_has_rank_0():
    assert row(mean_fitness=10.0).mean_rank == 0


def test_a_mean_that_is_not_tracked_has_no_rank():
    assert math.isnan(row().mean_rank)


def test_scalars_leave_out_what_is_not_known():
    tags = dict(scalars(row()))
    assert tags["fitness/best"] == 10
    assert "learning_rate" not in tags
    assert "rank_of_mean" not in tags
    assert list(dict(scalars(held_out())).values()) == [5, 2**0.5, 4, 6]
    assert dict(scalars(TIMING))["speed/idle"] == 0.25


def curves(directory):
    accumulator = EventAccumulator(str(directory)).Reload()
    return {
        tag: [(event.step, event.value) for event in accumulator.Scalars(tag)]
        for tag in accumulator.Tags()["scalars"]
    }


def write(directory, generations, done=0, shift=0.0):
    board = TensorBoard(directory)
    board.start(Config(), [], done)
    for generation in generations:
        board.generation(row(generation, shift), TIMING, held_out(generation) if generation == 2 else None)
    return board


def test_tensorboard_can_be_read_while_it_is_written(tmp_path):
    write(tmp_path, [1, 2])
    read = curves(tmp_path)
    assert read["fitness/mean"] == [(1, 4), (2, 4)]
    assert read["held_out/mean"] == [(2, 5)]
    assert read["speed/episodes_per_second"] == [(1, 8), (2, 8)]


def test_tensorboard_shows_the_evaluation_after_the_end(tmp_path):
    write(tmp_path, []).finish("done", held_out(3))
    assert curves(tmp_path)["held_out/max"] == [(3, 6)]


def test_curves_do_not_double_when_a_run_is_resumed(tmp_path):
    write(tmp_path, [1, 2, 3, 4]).close()  # killed when the run file held 2
    write(tmp_path, [3, 4, 5], done=2, shift=10.0).close()
    assert curves(tmp_path)["fitness/mean"] == [(1, 4), (2, 4), (3, 14), (4, 14), (5, 14)]


def test_lines_have_a_header_now_and_then():
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(Config(max_iter=100), ["a fact"], 0)
    for generation in range(1, 31):
        lines.generation(row(generation), TIMING, held_out(generation) if generation == 30 else None)
    lines.finish("reached the end", held_out(30))
    text = stream.getvalue().splitlines()
    assert text[0] == "a fact"
    assert [number for number, line in enumerate(text) if "of mean" in line] == [1, 27]
    assert text[2].split() == ["1", "10", "4", "1", "-", "-", "-", "0.5", "5", "100", "25%", "3", "0:04:57"]
    assert text[32].split()[6] == "5"
    assert len({len(line) for line in text[1:33]}) == 1
    assert text[33:] == ["held-out mean 5 ± 1.414 (deviation) at generation 30", "reached the end"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00:00"), (59.6, "0:01:00"), (3725, "1:02:05"), (90061, "1d 1:01:01")]
)
def test_clock(seconds, text):
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "-"),
        (475.3126, "475.3"),
        (-8.4761, "-8.476"),
        (81233.4, "81,233"),
        (1234.4, "1,234"),
        (9999.6, "10,000"),
        (5.12e8, "5.12e+08"),
    ],
)
def test_number(value, text):
    assert number(value) == text


def test_time_left_follows_the_recent_generations():
    left = TimeLeft(100)
    for _ in range(60):
        left.after(1, 10.0)
    for _ in range(50):
        last = left.after(90, 2.0)
    assert last == pytest.approx(20)
    assert left.after(101, 2.0) == 0


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([], ""),
        ([math.nan], ""),
        ([3, 3], "▅▅"),
        ([0, 7], "▁█"),
        ([0, 0, 7, 7], "▁█"),
        ([7, 0, math.nan], "█▁"),
    ],
)
def test_sparkline(values, line):
    assert sparkline(values, 2) == line


def test_a_sparkline_without_room_is_one_character():
    assert sparkline([0, 7], -3) == "▅"


def drawn(course, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(draw(course, 61, width))
    return console.file.getvalue()


def test_the_panel_shows_the_run():
    course = Course(Config(population_size=4, max_iter=50), 3, 4000.0)
    course.latest = row(3, mean_fitness=2.5, learning_rate=0.01), TIMING
    course.fitness, course.held_out = [1.0, 2.0, 3.0], [held_out(2), HeldOut(3, np.array([1.0]))]
    text = " ".join(drawn(course).replace("\xa0", " ").split())
    for part in (
        "CartPole-v1 · cma_es · seed 1143",
        "3 of 50",
        "0:01:01 gone 1:06:40 left",
        "best 10 mean 4 min 1 std 3.536",
        "2.5 candidates above it 2 of 4 elite 1 of 4",
        "1 at generation 3 best 5 at 2",
        "episodes/s 8 steps/s 100 ranks idle 25%",
        "ask 0.100 evaluate 2.000 tell 0.300 save 0.400 total 3.000",
        "▁▅█",
        "runs/CartPole-v1-cma_es-1143",
    ):
        assert part in text


@pytest.mark.parametrize("width", [40, 80, 140])
def test_the_panel_keeps_to_the_width(width):
    course = Course(Config(env="a-package.with-a-long-name:make_environment"), 3, 4000.0)
    assert {len(line) for line in drawn(course, width).splitlines()} == {width}  # before the first generation
    course.latest = row(3), TIMING
    assert {len(line) for line in drawn(course, width).splitlines()} == {width}


def tell(telemetry):
    with telemetry:
        for sink in telemetry:
            sink.start(Config(), ["a fact"], 0)
            sink.generation(row(), TIMING, held_out())
            sink.finish("reached the end", None)


def test_without_sinks_it_is_silent(capfd):
    tell(Telemetry())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("console", ["auto", "live", "lines"])
def test_a_log_file_gets_lines(tmp_path, console):
    stream = io.StringIO()
    tell(open_telemetry(Config(console=console), tmp_path, stream))
    assert stream.getvalue().startswith("a fact\ngeneration")
    assert "\x1b" not in stream.getvalue()
    assert curves(tmp_path)["fitness/best"] == [(1, 10)]


def test_what_is_switched_off_is_not_written(tmp_path):
    stream = io.StringIO()
    tell(open_telemetry(Config(console="silent", tensorboard=False), tmp_path, stream))
    assert stream.getvalue() == ""
    assert list(tmp_path.iterdir()) == []


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
    return process.wait(60), seen.decode()


TELL = """
from tests.telemetry.test_sinks import *
tell(open_telemetry(Config(tensorboard=False), "/nowhere"))
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
    program = TELL.replace("tell(", "T = ", 1).replace('/nowhere"))', '/nowhere")')
    program += "with T:\n    T.start(Config(), [])\n    raise RuntimeError('boom')\n"
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
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, cwd=ROOT, env=environ, timeout=60)
    assert log.read_text().startswith("a fact\ngeneration")


def test_a_dumb_terminal_is_none(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert find_terminal(sys.stdout) is None
