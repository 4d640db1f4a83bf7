import sys
from types import SimpleNamespace

import pytest

from mpi_es.config.run import configured
from mpi_es.run_file.records import EvaluationProgress
from mpi_es.telemetry import notebook
from mpi_es.telemetry.lines import Lines
from mpi_es.telemetry.notebook import NotebookLine, find_cell
from mpi_es.telemetry.sinks import open_telemetry
from mpi_es.telemetry.view import view_of
from tests.telemetry.records import evaluation, held_out, numbers


class Cell:
    """What a handle of IPython does, as a list of the texts that were shown."""

    def __init__(self):
        self.shown = []

    def display(self, data, raw):
        assert raw
        self.shown.append(data["text/plain"])

    update = display


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(notebook, "_EVERY", 0.0)


def test_each_generation_replaces_the_line(always):
    cell, progress = Cell(), EvaluationProgress()
    line = NotebookLine(cell, view_of(configured(max_iter=3)), progress)
    line.start(["mlp policy", "1 rank"], 0)
    progress.begin(8, 0, held_out=False, share=False)
    progress.add(4)
    progress.begin(0, 0, held_out=False, share=False)
    line.generation(numbers(1, held=held_out()))
    line.generation(numbers(2))
    line.generation(evaluation(2))
    line.finish("generation 2: done")
    line.close()
    progress.add(1)
    scores = "best 10, mean 4, held-out mean 5"
    assert cell.shown[0] == "mlp policy"
    assert cell.shown[1] == "mlp policy; episodes 4 of 8"
    assert cell.shown[2].startswith(f"generation 1 of 3: {scores}, 6 s left")
    assert cell.shown[3].startswith(f"generation 2 of 3: {scores}, 3 s left")
    assert cell.shown[4:] == ["generation 2: done"]


def test_a_target_may_end_the_run_earlier(always):
    cell = Cell()
    NotebookLine(cell, view_of(configured(max_iter=3, target_fitness=9.0))).generation(numbers(1))
    assert cell.shown == ["generation 1 of 3: best 10, mean 4, at most 6 s left"]


def test_a_thousand_generations_in_a_second_are_few_lines():
    cell = Cell()
    line = NotebookLine(cell, view_of(configured()))
    for generation in range(1, 1000):
        line.generation(numbers(generation))
    assert len(cell.shown) < 100


@pytest.mark.parametrize(
    ("shell", "is_cell"), [(SimpleNamespace(kernel=1), True), (SimpleNamespace(), False), (None, False)]
)
def test_a_shell_with_a_kernel_is_a_notebook_s(monkeypatch, shell, is_cell):
    pytest.importorskip("IPython")
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(notebook, "import_module", lambda name: SimpleNamespace(DisplayHandle=Cell))
    assert isinstance(find_cell(), Cell) == is_cell


@pytest.mark.parametrize(
    ("console", "kind"), [("auto", NotebookLine), ("live", NotebookLine), ("lines", Lines)]
)
def test_a_notebook_gets_it_unless_lines_are_wanted(monkeypatch, tmp_path, console, kind):
    monkeypatch.setattr(notebook, "find_cell", Cell)
    config = configured(console=console, tensorboard=False)
    assert [type(sink) for sink in open_telemetry(config, tmp_path, view_of(config))._sinks] == [kind]
