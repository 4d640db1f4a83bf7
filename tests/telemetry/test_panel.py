import io
import os
import re

import numpy as np
import pytest
from rich.console import Console

from mpi_es.config.run import configured
from mpi_es.run_file.history import History
from mpi_es.run_file.records import EvaluationProgress
from mpi_es.telemetry.numbers import of_past
from mpi_es.telemetry.panel import LivePanel, PanelData, draw
from mpi_es.telemetry.view import view_of
from tests.telemetry.records import evaluation, held_out, numbers, row


def course_of(*known, progress=None, **options):
    """Return the data of a panel of a run with these options."""
    view = view_of(configured(**options))
    return PanelData(view, *known, progress=progress or EvaluationProgress())


def drawn(course, width=80, height=24, elapsed=61):
    console = Console(file=io.StringIO(), width=width)
    console.print(draw(course, elapsed, width, height))
    return console.file.getvalue()


def test_the_panel_shows_the_run():
    course = course_of(3, 4000.0, 61.0, population_size=4, max_iter=50)
    course.latest = numbers(3, fitness_of_centre=2.5, learning_rate=0.01)
    course.course, course.held_out = [1.0, 2.0, 3.0], [evaluation(2), evaluation(3, [1.0])]
    text = " ".join(drawn(course).replace("\xa0", " ").split())
    for part in (
        "CartPole-v1, cma_es, seed 1143",
        "3 of 50",
        "1 min 01 s elapsed 1 h 06 min left",
        "best 10 mean 4 min 1 std 3.536",
        "2.5 candidates above it 2 of 4 elite 1 of 4",
        "held-out 1 at generation 3 best 5 at 2",
        "episodes/s 8 steps/s 100 ranks idle 25%",
        "ask 0.100 evaluate 2.000 tell 0.300 save 0.400 total 3.000",
        "▁▅█",
        "runs/CartPole-v1-cma_es-1143",
    ):
        assert part in text


@pytest.mark.parametrize("width", [40, 80, 140])
def test_the_panel_keeps_to_the_width(width):
    course = course_of(3, 4000.0, env="a-package.with-a-long-name:make_environment")
    assert {len(line) for line in drawn(course, width).splitlines()} == {width}  # before the first generation
    course.latest = numbers(3)
    assert {len(line) for line in drawn(course, width).splitlines()} == {width}


def test_the_time_left_goes_down_and_is_an_upper_limit_where_a_target_may_end_the_run():
    course = course_of(3, 4000.0, 60.0, target_fitness=475)
    course.latest = numbers(3)
    assert "2 min 00 s elapsed  at most 1 h 05 min left" in drawn(course, elapsed=120)


def test_the_panel_shows_how_far_an_evaluation_is():
    course = course_of(progress=EvaluationProgress(1830, 4112, share=True))
    lines = drawn(course).splitlines()
    assert [line.split()[1:5] for line in lines if "episodes" in line] == [
        ["episodes", "1,830", "of", "4,112"]
    ]
    assert "of rank 0" in lines[2]
    course = course_of(progress=EvaluationProgress(3, 8, held_out=True), function="f:f")
    assert "calls" in drawn(course)
    assert "held-out" in drawn(course)


@pytest.mark.parametrize(("height", "lines"), [(24, 4), (16, 2), (12, 1)])
def test_the_held_out_curve_has_the_lines_that_are_left(height, lines):
    course, without = course_of(3, 4000.0), course_of(3, 4000.0)
    course.latest = without.latest = numbers(3)
    course.held_out = [evaluation(2), evaluation(3, [1.0])]
    drawn_lines = [len(drawn(each, height=height).splitlines()) for each in (course, without)]
    assert drawn_lines[0] - drawn_lines[1] == lines + 1


def large(**known):
    """Return a course whose numbers are as wide as they get."""
    progress = EvaluationProgress(1234567, 7654321, held_out=True, share=True)
    course = course_of(10**6, 1e7, progress=progress, max_iter=10**7, target_fitness=0.0)
    large = {"fitness_of_centre": -1234567.8, "episode_cap": 10**6}
    course.latest = numbers(10**6, -1234567.8, **large, **known)
    course.course = [-1234567.8, 1234567.8]
    course.held_out = [evaluation(10**6, [-1234567.8, -9876543.2])] * 2
    return course


@pytest.mark.parametrize("width", [40, 80, 140])
def test_large_numbers_keep_to_the_width(width):
    assert {len(line) for line in drawn(large(learning_rate=1e-5), width).splitlines()} == {width}


def test_large_numbers_fit_a_terminal():
    assert len(drawn(large()).splitlines()) < 24


def test_a_long_curve_is_thinned():
    data = PanelData(view_of(configured()))
    for generation in range(10_000):
        data.add({"fitness/mean": float(generation)})
    assert len(data.course) < 2000
    assert np.ptp(np.diff(data.course)) == 0
    assert 9_990 < data.course[-1] < 10_000


def test_the_curves_of_a_run_that_is_continued_begin_with_it():
    history = History()
    for generation in (1, 2):
        history.rows.append(row(generation, shift=20.0 * generation))
    history.evaluations.append(held_out(2))
    master, slave = os.openpty()
    with open(slave, "w", encoding="utf-8") as terminal, open(master, "rb", buffering=0) as screen:
        panel = LivePanel(terminal, view_of(configured()), of_past(configured(), history))
        panel.start([], 2)
        panel.generation(numbers(3))
        panel.finish("over")
        seen = b""
        while b"over" not in seen:
            seen += screen.read(65536)
    text = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", seen.decode())
    assert "▅█▁" in text  # means of 24, 44 and 4
    assert "at generation 2" in text.replace("\xa0", " ")
