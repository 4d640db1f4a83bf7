import io

import numpy as np
import pytest
from rich.console import Console

from mpi_es.config.run import Config
from mpi_es.telemetry.panel import PanelData, draw
from mpi_es.telemetry.sinks import HeldOut
from tests.telemetry.records import TIMING, held_out, row


def drawn(course, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(draw(course, 61, width))
    return console.file.getvalue()


def test_the_panel_shows_the_run():
    course = PanelData(Config(population_size=4, max_iter=50), 3, 4000.0)
    course.latest = row(3, fitness_of_centre=2.5, learning_rate=0.01), TIMING
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
    course = PanelData(Config(env="a-package.with-a-long-name:make_environment"), 3, 4000.0)
    assert {len(line) for line in drawn(course, width).splitlines()} == {width}  # before the first generation
    course.latest = row(3), TIMING
    assert {len(line) for line in drawn(course, width).splitlines()} == {width}
