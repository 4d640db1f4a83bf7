"""The notebooks of examples/ run, and are stored with what they show."""

from pathlib import Path

import nbformat
import pytest

from tests.notebooks import NOTEBOOKS, executed, without_noise


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_cells_run(path, tmp_path):
    notebook = executed(path, tmp_path)
    kinds = [(o.output_type, o.get("name")) for cell in notebook.cells for o in cell.get("outputs", [])]
    assert ("display_data", None) in kinds  # a figure
    assert ("stream", "stderr") not in kinds


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_with_its_outputs_and_without_counts(path):
    stored = nbformat.read(path, as_version=4)
    assert without_noise(nbformat.read(path, as_version=4)) == stored
    shown = [cell for cell in stored.cells if cell.cell_type == "code" and cell.outputs]
    assert len(shown) >= 3
    assert str(Path.cwd()) not in path.read_text(encoding="utf-8")
    assert path.stat().st_size < 100_000


def test_there_is_one_for_a_function_an_environment_and_runs():
    assert {path.stem for path in NOTEBOOKS} == {"environment", "function", "runs"}
