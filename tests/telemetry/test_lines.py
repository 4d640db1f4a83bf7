import io

import numpy as np
import pytest

from mpi_es.config.run import configured
from mpi_es.run_file.records import EvaluationProgress, HeldOut, Timing
from mpi_es.telemetry.all_sinks import console_sinks
from mpi_es.telemetry.lines import Lines, TimeLeft
from tests.telemetry.records import TIMING, held_out, row


def test_lines_have_a_header_now_and_then():
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(configured(max_iter=100), ["a fact"], 0)
    for generation in range(1, 31):
        lines.generation(row(generation), TIMING, held_out(generation) if generation == 30 else None)
    lines.finish("reached the end", held_out(30))
    text = stream.getvalue().splitlines()
    assert text[0] == "a fact"
    assert [number for number, line in enumerate(text) if "centre" in line] == [1, 27]
    assert text[2].split() == ["1", "10", "4", "-", "-", "0.5", "5", "100", "3", "4", "min", "57", "s"]
    assert text[32].split()[4] == "5"
    assert len({len(line) for line in text[1:33]}) == 1
    assert text[33:] == ["held-out mean 5 ± 1.414 (deviation) at generation 30", "reached the end"]


def test_time_left_follows_the_recent_generations():
    left = TimeLeft(100)
    for _ in range(60):
        left.after(1, 10.0)
    lefts = [left.after(90, 2.0) for _ in range(50)]
    assert lefts[-2:] == pytest.approx([10 * (49 * 2.0 + 10.0) / 50, 20])
    assert left.after(101, 2.0) == 0


def test_a_restart_gets_a_line_before_its_first_generation():
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(configured(max_iter=100), [], 0)
    for generation, start in enumerate((2, 2, 3)):  # resumed in the start of number 2
        lines.generation(row(generation, start=start), TIMING, None)
    assert stream.getvalue().splitlines()[3] == "restart 3: another draw, 4 candidates"
    assert stream.getvalue().count("restart") == 1


@pytest.mark.parametrize("function", ["", "f:f"])
def test_no_number_is_too_large_for_a_line(function):
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(configured(max_iter=10**6, target_fitness=0.0, function=function), [], 0)
    small = Timing(0.1, 2.0, 0.3, 0.4, 3e-5, 8.0, 100.0, 0.25)
    large = Timing(0.1, 2.0, 0.3, 0.4, 3e5, 8.0, 12345678.9, 0.25)
    scores = HeldOut(10**6, np.array([-12345678.9]))
    lines.generation(row(1), small, None)
    lines.generation(row(2, -1234567.8, fitness_of_centre=-1.2345e-5), large, scores)
    lines.generation(row(10**6, 12345678.9), large, scores)
    text = stream.getvalue().splitlines()
    assert {len(line) for line in text} == {len(text[0])}
    assert len(text[0]) <= 80
    assert all(int(line.split()[0]) for line in text[1:])


def test_a_target_makes_the_time_left_an_upper_limit():
    for target, title in ((None, "left"), (475.0, "at most")):
        stream = io.StringIO()
        lines = Lines(stream)
        lines.start(configured(target_fitness=target), [], 0)
        lines.generation(row(), TIMING, None)
        assert stream.getvalue().splitlines()[0].endswith(title)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_how_far_a_long_evaluation_is(monkeypatch):
    monkeypatch.setattr("mpi_es.telemetry.lines._LONG", 0.0)
    stream, progress = Terminal(), EvaluationProgress()
    lines = Lines(stream, progress)
    lines.start(configured(max_iter=9), [], 0)
    progress.begin(4112, 1829, held_out=False, share=False)
    progress.add()
    text = "generation 1: episodes 1,830 of 4,112"
    assert stream.getvalue() == text
    progress.add()  # within the same second
    lines.generation(row(), TIMING, None)
    header = stream.getvalue().removeprefix(text).split("\n")[0]
    assert header.startswith("\r gen")
    lines.close()
    assert progress.listener is None


def test_what_is_shown_last_is_followed_by_a_new_line(monkeypatch):
    monkeypatch.setattr("mpi_es.telemetry.lines._LONG", 0.0)
    stream, progress = Terminal(), EvaluationProgress(total=2, share=True)
    lines = Lines(stream, progress)
    lines.start(configured(function="f:f"), [], 4)
    progress.add()
    lines.close()
    shown = "generation 5: calls of rank 0 1 of 2"
    assert stream.getvalue() == f"{shown}\r{shown}\n"


def test_a_log_file_has_whole_generations_only(monkeypatch):
    monkeypatch.setattr("mpi_es.telemetry.lines._LONG", 0.0)
    progress = EvaluationProgress()
    Lines(io.StringIO(), progress).start(configured(), [], 0)
    assert progress.listener is None


def test_a_stream_that_is_not_utf_8_gets_what_it_can_show():
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding="ascii")
    console_sinks("lines", stream, Lines, Lines)
    lines = Lines(stream)
    lines.start(configured(), [], 0)
    lines.finish("in runs/Zürich", held_out(30))
    assert buffer.getvalue().decode().splitlines() == [
        "held-out mean 5 +/- 1.414 (deviation) at generation 30",
        "in runs/Z?rich",
    ]
