import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from mpi_es.run_file.records import HeldOut
from mpi_es.telemetry.lines import Lines
from mpi_es.telemetry.panel import PanelData, draw
from pbt.config import Config
from pbt.lineage import Generation, Lineage
from pbt.telemetry.view import of_generation, of_past, view_of

SCORES = np.array([1.0, np.nan, 5.0, 3.0])
VALUES = np.array([[1e-3, 0.9], [2e-3, 0.91], [3e-3, 0.92], [4e-3, 0.93]])
DONE = Generation(7, SCORES, np.array([10.0, np.nan, 50.0, 30.0]), VALUES, np.array([0, 2, 2, 3]))
HELD = HeldOut(7, np.array([4.0, 6.0]))
NAMES = ["learning_rate", "gamma"]


def lines_of(max_iter, names, *generations):
    """Return what a population's generations write into a log, each with seconds and held-out evaluation."""
    stream = io.StringIO()
    lines = Lines(stream, view_of(Config(max_iter=max_iter), names))
    lines.start([], 0)
    for done, seconds, held_out in generations:
        lines.generation(of_generation(names, done, seconds, held_out))
    return stream.getvalue().splitlines()


def test_a_line_has_best_mean_copies_and_diverged():
    titles, row = lines_of(9, NAMES, (DONE, 2.0, HELD))
    cells = dict(zip(titles.split(), row.split(maxsplit=9), strict=True))
    assert cells == {
        "gen": "7",
        "best": "5",
        "mean": "3",
        "member": "2",
        "copies": "1",
        "diverged": "1",
        "length": "50",
        "held-out": "5",
        "seconds": "2",
        "left": "4 s",
    }


def test_the_numbers_are_scores_lengths_hyperparameters_and_copies():
    numbers = of_generation(NAMES, DONE, 2.0, HELD)
    known = {"generation": 7, "score/best": 5, "score/mean": 3, "episode_length/best": 50, "copies": 1}
    known |= {"held_out/mean": 5, "score/3": 3, "learning_rate/2": 3e-3, "gamma/0": 0.9, "copied/1": 2}
    assert {name: numbers[name] for name in known} == known
    assert [name for name in numbers if name.startswith("copied/")] == ["copied/1"]


def test_the_past_has_the_best_scores_and_the_held_out_evaluations():
    best, evaluation = of_past(Lineage(NAMES, [DONE], [2.0], [(2, HELD)]))
    assert best == {"generation": 7, "score/best": 5}
    assert (evaluation["generation"], evaluation["held_out/mean"]) == (7, 5)


def drawn(height, elapsed=10.0, width=90, names=NAMES, done=DONE, held_out=HELD):
    course = PanelData(view_of(Config(max_iter=9), names), 7, 3.0, 8.0)
    course.latest = of_generation(names, done, 2.0, held_out)
    course.add(course.latest)
    console = Console(file=io.StringIO(), width=width, height=height)
    console.print(draw(course, elapsed, width, height))
    return console.file.getvalue()


def test_the_table_has_a_line_for_each_member_the_best_first():
    text = drawn(30)
    rows = [line.strip("│ \n").split() for line in text.splitlines()]
    members = [row for row in rows if len(row) >= 5 and row[0] in "0123"]
    assert [row[0] for row in members] == ["2", "3", "0", "1"]
    assert members[0][1:] == ["5", "50", "0.003", "0.92"]
    assert members[3] == ["1", "-", "-", "0.002", "0.91", "2"]  # it diverged, and copied member 2
    words = " ".join(text.replace("\xa0", " ").split())
    assert "generation 7 of 9" in words
    assert "score best 5 mean 3 member 2 copies 1 diverged 1" in words
    assert "held-out 5 deviation 1.414 at generation 7 best 5 at 7" in words


def test_no_number_in_the_table_is_cut():
    done = replace(DONE, hyperparameters=np.full((4, 9), 0.0021789))
    assert "…" not in drawn(30, width=80, names=list("abcdefghi"), done=done)


def test_the_time_left_goes_down_within_a_generation():
    assert "10 s elapsed  1 s left" in drawn(30)
    assert "20 s elapsed  0 s left" in drawn(30, elapsed=20.0)


def test_a_small_terminal_shows_the_best_and_how_many_more_there_are():
    assert "0.92" in drawn(11)
    assert "0.91" not in drawn(11)
    assert "and 3 more members" in drawn(11)
    assert "more" not in drawn(13)


NINE = [f"hyperparameter_{i}" for i in range(9)]
LARGE = Generation(10**6, np.arange(64) * -1234.5, np.full(64, 1e6), np.full((64, 9), 1e-5), np.arange(64))
LARGE_HELD = HeldOut(10**6, np.array([-1234567.8, -9876543.2]))


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (60, 12)])
def test_a_large_population_with_many_hyperparameters_keeps_its_scores_on_the_terminal(width, height):
    text = drawn(height, width=width, names=NINE, done=LARGE, held_out=LARGE_HELD).splitlines()
    assert {len(line) for line in text} == {width}
    assert len(text) < height
    assert any("-1,234" in line for line in text)
    assert any(line.split()[1:3] == ["held-out", "-5,555,556"] for line in text)
    assert any("more members and " in line and "more hyperparameter" in line for line in text)


def test_no_number_is_too_large_for_a_line():
    text = lines_of(10**6, NINE, (LARGE, 1e6, LARGE_HELD), (LARGE, 1e-5, None))
    assert {len(line) for line in text} == {len(text[0])}
    assert len(text[0]) <= 80
