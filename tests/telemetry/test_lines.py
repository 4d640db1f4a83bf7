import io

import pytest

from mpi_es.config.run import Config
from mpi_es.telemetry.lines import Lines, TimeLeft
from tests.telemetry.records import TIMING, held_out, row


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


def test_time_left_follows_the_recent_generations():
    left = TimeLeft(100)
    for _ in range(60):
        left.after(1, 10.0)
    for _ in range(50):
        last = left.after(90, 2.0)
    assert last == pytest.approx(20)
    assert left.after(101, 2.0) == 0


def test_a_restart_gets_a_line_before_its_first_generation():
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(Config(max_iter=100), [], 0)
    for generation, start in enumerate((2, 2, 3)):  # resumed in the start of number 2
        lines.generation(row(generation, start=start), TIMING, None)
    assert stream.getvalue().splitlines()[3] == "restart 3: another draw, 4 candidates"
    assert stream.getvalue().count("restart") == 1
