from dataclasses import replace

import numpy as np
import pytest

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from pbt import report
from pbt.papers import figure2
from tests.launching import run_here
from tests.pbt.runs import WALKERS

PNG = b"\x89PNG"


def test_a_toy_run_is_drawn_with_the_papers_figure(trained, tmp_path):
    trained(tmp_path, "toy", "--max-iter", 3)
    run_here(report, tmp_path)
    for name in (report.NAME, figure2.NAME):
        assert (tmp_path / name).read_bytes().startswith(PNG)
    assert "<h2>Figure 2 of the paper</h2>" in (tmp_path / report.PAGE).read_text(encoding="utf-8")


def test_a_run_is_drawn_afterwards(trained, tmp_path, capsys):
    trained(tmp_path, "--member", WALKERS + "Diverging", "--max-iter", 4, "--num-agents", 3)
    assert report.main(SerialComm(), [str(tmp_path)]) == 0
    names = ("population.png", "report.html")
    assert capsys.readouterr().out.split() == [str(tmp_path / name) for name in names]
    assert (tmp_path / report.NAME).read_bytes().startswith(PNG)


def test_the_figures_settings_reach_the_papers_scores():
    reached = {name: figure2.scores(figure2.paths(config)) for name, config in figure2.settings(1).items()}
    assert {name: q.shape for name, q in reached.items()} == dict.fromkeys(reached, (2, 201))
    assert reached["PBT"].max() == pytest.approx(1.2, abs=1e-4)
    assert reached["grid search"].max() < 0.4
    first = next(np.flatnonzero(q.max(axis=0) >= 1.19)[0] for q in [reached["PBT"]])
    assert first <= 144  # in the paper's figure too the optimum is reached well before the end


def test_a_path_jumps_where_theta_is_copied():
    toy = replace(figure2.settings(0)["exploit only"], max_iter=1)
    one, other = figure2.paths(toy)
    assert (one[:20] != other[:20]).any()
    assert (one[20] == other[20]).all()


def test_help_prints_the_usage(capsys):
    with pytest.raises(SystemExit):
        report.main(SerialComm(), ["--help"])
    assert "python -m pbt.report RUN" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["--out", "here"]])
def test_a_run_must_be_named(arguments):
    with pytest.raises(UserError, match="RUN: expected directories of runs as the first arguments, got none"):
        report.main(SerialComm(), arguments)
