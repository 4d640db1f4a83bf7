import io

import numpy as np
import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from mpi_es.run_file.records import HeldOut
from mpi_es.telemetry.callback import Callback
from pbt.config import Config
from pbt.lineage import Generation
from pbt.telemetry.sinks import Board, PopulationCallback, PopulationLines
from pbt.telemetry.table import TableData, draw
from tests.telemetry.test_callback import NAME, notes

SCORES = np.array([1.0, np.nan, 5.0, 3.0])
VALUES = np.array([[1e-3, 0.9], [2e-3, 0.91], [3e-3, 0.92], [4e-3, 0.93]])
DONE = Generation(7, SCORES, np.array([10.0, np.nan, 50.0, 30.0]), VALUES, np.array([0, 2, 2, 3]))
HELD = HeldOut(7, np.array([4.0, 6.0]))
NAMES = ["learning_rate", "gamma"]


def test_a_line_has_best_mean_copies_and_diverged():
    stream = io.StringIO()
    lines = PopulationLines(stream)
    lines.start(Config(max_iter=9), NAMES, ["a fact"], 0)
    lines.generation(DONE, 2.0, HELD)
    fact, titles, row = stream.getvalue().splitlines()
    assert fact == "a fact"
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


def test_tensorboard_has_scores_lengths_and_every_hyperparameter(tmp_path):
    board = Board(tmp_path)
    board.start(Config(), NAMES, [], 0)
    board.generation(DONE, 2.0, HELD)
    board.close()
    accumulator = EventAccumulator(str(tmp_path)).Reload()
    read = {tag: accumulator.Scalars(tag)[0] for tag in accumulator.Tags()["scalars"]}
    assert {event.step for event in read.values()} == {7}
    known = {"score/best": 5, "score/mean": 3, "episode_length/best": 50, "copies": 1, "held_out/mean": 5}
    assert {tag: read[tag].value for tag in known} == known
    assert read["learning_rate/2"].value == pytest.approx(3e-3)
    assert read["gamma/0"].value == pytest.approx(0.9)


def test_a_callback_ends_once_with_the_reason(tmp_path):
    sink = PopulationCallback(Callback(NAME + "Notes", tmp_path))
    sink.start(Config(), NAMES, [], 0)
    sink.finish("last generation done")
    sink.remark("drawn in figure2.png")
    sink.close()
    assert notes(tmp_path)[1:] == ["last generation done", "closed"]


def drawn(height, elapsed=10.0, width=90, names=NAMES, done=DONE, held_out=HELD):
    course = TableData(Config(max_iter=9), names, 7, 3.0, 8.0, done, held_out, [1.0, 5.0])
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
    assert "generation 7 of 9" in text
    assert "held-out 5, deviation 1.414, at generation 7" in text


def test_the_time_left_goes_down_within_a_generation():
    assert "10 s elapsed   1 s left" in drawn(30)
    assert "20 s elapsed   0 s left" in drawn(30, elapsed=20.0)


def test_a_small_terminal_shows_the_best_and_how_many_more_there_are():
    assert "0.92" in drawn(9)
    assert "0.91" not in drawn(9)
    assert "and 3 more members" in drawn(9)
    assert "more" not in drawn(11)


NINE = [f"hyperparameter_{i}" for i in range(9)]
LARGE = Generation(10**6, np.arange(64) * -1234.5, np.full(64, 1e6), np.full((64, 9), 1e-5), np.arange(64))
LARGE_HELD = HeldOut(10**6, np.array([-1234567.8, -9876543.2]))


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (60, 12)])
def test_a_large_population_with_many_hyperparameters_keeps_its_scores_on_the_terminal(width, height):
    text = drawn(height, width=width, names=NINE, done=LARGE, held_out=LARGE_HELD).splitlines()
    assert {len(line) for line in text} == {width}
    assert len(text) < height
    assert any("-1,234" in line for line in text)
    assert any("held-out -5,555,556" in line for line in text)
    assert any("more members and " in line and "more hyperparameter" in line for line in text)


def test_no_number_is_too_large_for_a_line():
    stream = io.StringIO()
    lines = PopulationLines(stream)
    lines.start(Config(max_iter=10**6), NINE, [], 0)
    lines.generation(LARGE, 1e6, LARGE_HELD)
    lines.generation(DONE, 1e-5, None)
    text = stream.getvalue().splitlines()
    assert {len(line) for line in text} == {len(text[0])}
    assert len(text[0]) <= 80
