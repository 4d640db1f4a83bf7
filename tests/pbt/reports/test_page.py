import html
import re
import shlex
from dataclasses import replace

import pytest

from mpi_es.config.parts import without_effect
from pbt import record, report, train
from pbt.config import Config
from tests.browser import DESKTOP, PHONE, seen
from tests.launching import run_here
from tests.pbt.runs import WALKERS


@pytest.fixture
def page(trained, tmp_path):
    """The page of a population of walkers, of which some diverge."""
    trained(
        tmp_path,
        "--member",
        WALKERS + "Diverging",
        "--max-iter",
        4,
        "--num-agents",
        14,
        "--num-eval-rollouts",
        3,
    )
    (tmp_path / "film.gif").write_bytes(b"picture")
    report.draw(tmp_path, allow_imports=True)
    return (tmp_path / report.PAGE).read_text(encoding="utf-8")


def test_a_page_shows_state_scores_hyperparameters_tree_members_and_films(page, tmp_path):
    assert f"<h1>Run {tmp_path.name}</h1>" in page
    assert '<p class="state finished">Last generation done.' in page
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert titles == [
        "Hyperparameters",
        "Family tree",
        "Members of the last generation",
        "Videos",
        "Options and commands",
    ]
    assert len(re.findall(r'aria-label="score by ', page)) == 4  # the first one wide and narrow
    assert 'aria-label="family tree by generations"' in page
    assert "The other 2 members" in page


def test_a_page_says_how_to_repeat_and_evaluate(page, tmp_path):
    assert f"python -m pbt.train --member {WALKERS}Diverging --num-agents 14 --max-iter 4" in page
    assert f"python -m pbt.evaluate {tmp_path}\n" in page
    assert f"python -m pbt.replay {tmp_path}" in page
    assert "--video" not in page  # walkers play no environment


@pytest.mark.parametrize(
    "options",
    ["--selection none --tune none", "--selection winner-takes-all", "--explore pb2", "--resample 0.5"],
)
def test_the_command_that_repeats_a_run_is_accepted_and_gives_its_config(tmp_path, options):
    run_here(train, "toy", *options.split(), "--max-iter", 2, "--console", "silent", "--run-dir", tmp_path)
    report.draw(tmp_path, allow_imports=True)
    page = (tmp_path / report.PAGE).read_text(encoding="utf-8")
    (command,) = re.findall(r"python -m pbt\.train (.*)", page)
    words = shlex.split(html.unescape(command))
    again = train.prepare([*words, "--run-dir", str(tmp_path / "again")]).config
    ours = record.load(tmp_path)[0]
    same = {name: getattr(Config(), name) for name in (*without_effect(ours), "run_dir")}
    assert replace(again, **same) == replace(ours, **same)


def test_the_members_are_sorted_by_score(trained, tmp_path):
    stored = trained(tmp_path, "--member", WALKERS + "Walker", "--max-iter", 3, "--num-agents", 4)
    report.draw(tmp_path, allow_imports=True)
    page = (tmp_path / report.PAGE).read_text(encoding="utf-8")
    table = page[page.index("Members of the last") :]
    members = [int(member) for member in re.findall(r'<tr><td class="number">(\d+)</td>', table)[:4]]
    assert members == (-stored["history"]["score"][-1]).argsort(kind="stable").tolist()


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_a_browser_shows_a_page_without_complaint_or_scrolling_sideways(page, width):
    found = seen(page, width)
    assert (found.width, found.complaints) == (width, [])
    assert 1000 < found.height < 9000
