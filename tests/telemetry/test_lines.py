import io

import pytest

from mpi_es.config.run import configured
from mpi_es.run_file.records import Timing
from mpi_es.telemetry.lines import Lines, TimeLeft
from mpi_es.telemetry.terminal import tolerate
from mpi_es.telemetry.view import view_of
from tests.telemetry.records import evaluation, held_out, numbers


def opened(stream, facts=(), **options):
    lines = Lines(stream, view_of(configured(**options)))
    lines.start(facts, 0)
    return lines


def test_lines_have_a_header_now_and_then():
    stream = io.StringIO()
    lines = opened(stream, max_iter=100, facts=["a fact"])
    for generation in range(1, 31):
        lines.generation(numbers(generation, held=held_out() if generation == 30 else None))
    lines.generation(evaluation(30))
    lines.finish("reached the end")
    text = stream.getvalue().splitlines()
    assert text[0] == "a fact"
    assert [number for number, line in enumerate(text) if "centre" in line] == [1, 27]
    assert text[2].split() == ["1", "10", "4", "-", "-", "0.5", "5", "100", "3", "4", "min", "57", "s"]
    assert text[32].split()[4] == "5"
    assert len({len(line) for line in text[1:33]}) == 1
    assert text[33:] == ["held-out mean 5 ± 1.414 (deviation) at generation 30", "reached the end"]


def test_a_command_to_paste_is_one_line():
    stream = io.StringIO()
    command = f"python -m mpi_es.train --resume {'a' * 40}/{'b' * 40}"
    opened(stream).finish(f"stopped; continue with\n{command}")
    assert stream.getvalue().splitlines()[-2:] == ["stopped; continue with", command]


def test_time_left_follows_the_recent_generations():
    left = TimeLeft(100)

    def after(generation, seconds):
        return left.after({"generation": generation, "seconds/total": seconds})

    for _ in range(60):
        after(1, 10.0)
    lefts = [after(90, 2.0) for _ in range(50)]
    assert lefts[-2:] == pytest.approx([10 * (49 * 2.0 + 10.0) / 50, 20])
    assert after(101, 2.0) == 0


def test_a_restart_gets_a_line_before_its_first_generation():
    stream = io.StringIO()
    lines = opened(stream, max_iter=100)
    for generation, start in enumerate((2, 2, 3)):  # resumed in the start of number 2
        lines.generation(numbers(generation, start=start))
    assert stream.getvalue().splitlines()[3] == "restart 3: another draw, 4 candidates"
    assert stream.getvalue().count("restart") == 1


@pytest.mark.parametrize("function", ["", "f:f"])
def test_no_number_is_too_large_for_a_line(function):
    stream = io.StringIO()
    options = {"max_iter": 10**6, "target_fitness": 0.0, "function": function}
    lines, config = opened(stream, **options), configured(**options)
    small = Timing(0.1, 2.0, 0.3, 0.4, 3e-5, 8.0, 100.0, 0.25)
    large = Timing(0.1, 2.0, 0.3, 0.4, 3e5, 8.0, 12345678.9, 0.25)
    scores = held_out(10**6, [-12345678.9])
    lines.generation(numbers(1, config=config, timing=small))
    lines.generation(numbers(2, -1234567.8, config, large, scores, fitness_of_centre=-1.2345e-5))
    lines.generation(numbers(10**6, 12345678.9, config, large, scores))
    text = stream.getvalue().splitlines()
    assert {len(line) for line in text} == {len(text[0])}
    assert len(text[0]) <= 80
    assert all(int(line.split()[0]) for line in text[1:])


def test_a_target_makes_the_time_left_an_upper_limit():
    for target, title in ((None, "left"), (475.0, "at most")):
        stream = io.StringIO()
        opened(stream, target_fitness=target).generation(numbers())
        assert stream.getvalue().splitlines()[0].endswith(title)


def test_a_stream_that_is_not_utf_8_gets_what_it_can_show():
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding="ascii")
    tolerate(stream)
    lines = opened(stream)
    lines.generation(evaluation(30))
    lines.finish("in runs/Zürich")
    assert buffer.getvalue().decode().splitlines() == [
        "held-out mean 5 +/- 1.414 (deviation) at generation 30",
        "in runs/Z?rich",
    ]
