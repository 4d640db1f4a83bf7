import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mpi_es.reports import curves
from mpi_es.reports.runs import page
from mpi_es.run_file.history import History
from mpi_es.run_file.scores import interval
from mpi_es.text import number
from tests.browser import DESKTOP, PHONE, seen

RUN = Path(__file__).parents[1] / "fixtures" / "cartpole"


@pytest.fixture(scope="module")
def run():
    return curves.load(RUN)


@pytest.fixture(scope="module")
def alone(run):
    return page([run], RUN)


def with_life(run, **life):
    return replace(run, content=run.content | {"life": run.content.get("life", {}) | life})


def test_a_page_of_one_run_begins_with_its_state_and_its_score(run, alone):
    assert "<h1>Run cartpole</h1>" in alone
    (held,) = [e for e in run.evaluations if e.generation == run.content["best"]["generation"]][-1:]
    low, high = map(number, interval(held.returns))
    assert f"<b>{number(held.returns.mean())}</b><br>[{low}, {high}] generation" in alone
    assert alone.index('class="state') < alone.index("<svg")


@pytest.mark.parametrize(
    ("life", "said"),
    [
        ({"reason": "last generation done", "finished": True}, 'finished">Last generation done.'),
        ({"reason": "stopped by SIGTERM", "finished": False}, 'stopped">Stopped by SIGTERM; to be continued'),
        ({"reason": "", "finished": False, "saved": 0.0}, 'stopped">Silent: killed or hung (on vm'),
        ({"reason": "", "finished": False, "saved": 1e12}, 'running">Running on vm'),
    ],
)
def test_a_page_says_why_a_run_ended_or_that_it_goes_on(run, life, said):
    known = {"saved": 0.0, "host": "vm", "job": ""}
    assert f'<p class="state {said}' in page([with_life(run, **known | life)], RUN)


def test_the_learning_curve_comes_first_wide_and_narrow(run, alone):
    labels = re.findall(r'aria-label="([^"]*)"', alone)
    assert labels[:4] == [
        "return of an episode by generations",
        "return of an episode by generations",
        "return of an episode by environment steps",
        f"return of an episode by {labels[3].rpartition(' by ')[2]}",
    ]
    assert labels[3].startswith("return of an episode by wall time")


@pytest.mark.parametrize(
    ("of_best", "said"), [([-1.0, 0.0], "<b>1</b>"), ([-1.0, 0.5], "<b>1, not feasible</b>")]
)
def test_a_best_x_that_violates_a_constraint_is_said_to(run, of_best, said):
    best = run.content["best"] | {"fitness": 1.0}
    content = {"best": best, "problem": {"exact": True}, "constraints": {"of_best": np.array(of_best)}}
    assert said in page([replace(run, content=run.content | content)], RUN)


def test_only_the_score_of_a_policy_can_be_measured_again_on_fresh_seeds(run, alone):
    assert "evaluate with --seeds fresh" in alone
    of_function = replace(run, config=replace(run.config, function="my:noisy"))
    assert "evaluate with --seeds fresh" not in page([of_function], RUN)


def test_steps_are_counted(run, alone):
    assert f"<dt>Environment steps</dt><dd><b>{run.history['steps'].sum():,}</b>" in alone


def test_a_page_shows_what_the_time_was_spent_on(alone):
    shares = [float(share) for share in re.findall(r"width:([\d.]+)%", alone)]
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert "evaluate, ranks idle:" in alone


def test_a_page_of_several_has_a_table_over_seeds_and_a_section_for_each(run):
    other = replace(run, directory=Path("b & c"), warning="going on from <run.previous.h5>")
    text = page([run, other], RUN)
    assert "<h1>2 runs</h1>" in text
    assert "<h2>b &amp; c</h2>" in text
    assert '<p class="warning">going on from &lt;run.previous.h5&gt;</p>' in text
    best = number(run.best.mean())
    assert f'data-title="Best held-out return">{best} [{best}, {best}]</td>' in text
    last = number(run.evaluations[-1].returns.mean())
    assert f'data-title="Last held-out return">{last} [{last}, {last}]</td>' in text


@pytest.mark.parametrize(
    ("held", "title"), [(True, "held-out return, mean"), (False, "return, population mean")]
)
def test_runs_are_compared_by_their_held_out_returns_first_if_they_have_any(run, held, title):
    one = run if held else replace(run, past=History())
    labels = re.findall(r'aria-label="([^"]*)"', page([one, replace(one, directory=Path("other"))], RUN))
    assert labels[0] == f"{title} by generations"
    assert labels.count("return, population mean by environment steps") == 1


@pytest.mark.parametrize(("env", "filmed"), [("CartPole-v1", True), ("envpool:CartPole-v1", False)])
def test_the_command_that_films_is_shown_where_it_works(run, env, filmed):
    text = page([replace(run, config=replace(run.config, env=env))], RUN)
    assert ("--video" in text) == filmed


def test_a_film_in_the_directory_is_on_the_page(run, alone, tmp_path):
    shutil.copy(RUN / "run.h5", tmp_path)
    (tmp_path / "film.mp4").write_bytes(b"film")
    shown = page([replace(run, directory=tmp_path)], tmp_path)
    assert re.search(r'<video [^>]*src="[^"]+#t=1.5"', shown)  # not the first frame, which is zoomed out
    assert "<video" not in alone


def test_what_a_file_says_stays_text(run):
    evil = r'<script>alert(1)</script> $\frac$ "'
    content = run.content | {"libraries": {evil: evil}}
    changed = replace(run.config, env=evil)
    hostile = with_life(replace(run, config=changed, content=content), reason=evil, finished=False)
    elsewhere = replace(hostile, directory=Path(evil))
    for text in (page([hostile], RUN), page([run, elsewhere], RUN)):
        assert "<script" not in text
        assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 4


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_a_browser_shows_a_page_without_complaint_or_scrolling_sideways(run, alone, width):
    for text in (alone, page([run, replace(run, directory=Path("a/rather/long/name" * 5))], RUN)):
        found = seen(text, width)
        assert (found.width, found.complaints) == (width, [])
        assert 1000 < found.height < 9000
