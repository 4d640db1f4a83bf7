import base64
from dataclasses import replace
from pathlib import Path

import pytest

from mpi_es.reports import curves
from mpi_es.reports.page import page
from mpi_es.run_file.scores import interval

RUN = Path(__file__).parents[1] / "fixtures" / "cartpole"


@pytest.fixture(scope="module")
def run():
    return curves.load(RUN)


def test_a_page_of_one_run_shows_its_figures_score_and_options(run):
    text = page([run], {"all <runs>": b"png 1"}, [{"own": b"png 2"}])
    assert f"<h1>Run {RUN}</h1>" in text
    for picture in (b"png 1", b"png 2"):
        assert base64.b64encode(picture).decode() in text
    assert 'alt="all &lt;runs&gt;"' in text
    (held,) = [e for e in run.evaluations if e.generation == run.content["best"]["generation"]][-1:]
    low, high = interval(held.returns)
    assert f"{held.returns.mean():.2f} [{low:.2f}, {high:.2f}] (n = {len(held.returns)})" in text
    assert "of all of them reach" not in text


def test_a_page_of_several_has_a_row_and_a_section_for_each_and_its_warning(run):
    other = replace(run, directory=Path("b & c"), warning="going on from <run.previous.h5>")
    text = page([run, other], {}, [{}, {}])
    assert "<h1>2 runs</h1>" in text
    assert text.count("<h2>") == 2
    assert "b &amp; c" in text
    assert '<p class="warning">going on from &lt;run.previous.h5&gt;</p>' in text
