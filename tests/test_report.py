import re

import numpy as np
import pytest
from PIL import Image

from mpi_es import report, train
from mpi_es.errors import UserError
from mpi_es.reports import curves
from mpi_es.run_file import checkpoint
from mpi_es.text import number
from tests.launching import run_here
from tests.run_file import bases

OPTIONS = (
    *("--env", "CartPole-v1", "--hidden", 4, "--population-size", 4, "--max-iter", 3),
    *("--eval-every", 1, "--num-eval-rollouts", 5),
    *("--no-tensorboard", "--console", "silent"),
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The directories of two runs of three generations, which differ in the seed."""
    place = tmp_path_factory.mktemp("report")
    directories = [place / "one", place / "two"]
    for seed, directory in enumerate(directories):
        run_here(train, *OPTIONS, "--seed", seed, "--run-dir", directory)
    return directories


def reported(capsys, *arguments):
    """Return the paths that a report prints, by their names."""
    run_here(report, *arguments)
    lines = capsys.readouterr().out.splitlines()
    return {line.rpartition("/")[2]: line for line in lines}


def test_a_page_needs_nothing_else(capsys, runs, tmp_path):
    paths = reported(capsys, *runs, "--out", tmp_path / "new" / "out")
    pictures = ["comparison.png", "search.png", "learning-one.png", "learning-two.png"]
    assert list(paths) == [*pictures, "report.html"]
    page = (tmp_path / "new" / "out" / "report.html").read_text(encoding="utf-8")
    assert re.findall(r"(?:src|href)=\"(?!data:|#)|https?://|@import|url\((?!#)", page) == []
    for name in pictures:
        with Image.open(tmp_path / "new" / "out" / name) as image:
            assert image.format == "PNG"


def test_a_page_tells_config_score_and_command(capsys, runs, tmp_path):
    reported(capsys, runs[0], "--out", tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    returns = checkpoint.load(runs[0])[0]["evaluations"]["returns"]
    assert f"<b>{number(returns.mean(axis=1).max())}</b>" in page
    assert '<td class="code">--population-size</td><td class="code">4</td><td class="code">32</td>' in page
    assert "--learning-rate" not in page
    assert (
        "python -m mpi_es.train --env CartPole-v1 --hidden 4 --seed 0 --population-size 4 --max-iter 3 "
        in page
    )
    assert "<b>3</b><br>of 3" in page


def test_the_report_of_one_run_lies_in_its_directory(capsys, runs):
    paths = reported(capsys, runs[1])
    assert paths == {name: f"{runs[1]}/{name}" for name in ("search.png", "learning.png", "report.html")}
    with Image.open(paths["learning.png"]) as image:
        assert image.width > 1500
        colours = np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0).tolist()
    assert [0, 114, 178] in colours  # the population's mean
    assert [213, 94, 0] in colours  # the held-out one


def test_runs_of_two_seeds_are_compared_as_one_group(runs):
    (group,) = curves.grouped([curves.load(run) for run in runs])
    assert group.label == "one (2 runs)"
    means = [checkpoint.load(run)[0]["history"]["mean"] for run in runs]
    assert group.summary("generations", "mean")[2].tolist() == np.median(means, axis=0).tolist()


def test_a_damaged_file_is_passed_over_or_told(capsys, runs, tmp_path):
    (tmp_path / checkpoint.NAME).write_bytes(b"mpi_es damaged")
    with pytest.raises(UserError, match=r"run\.h5: damaged") as caught:
        report.report([str(tmp_path)])
    assert "\n" not in str(caught.value)
    (tmp_path / checkpoint.PREVIOUS).write_bytes((runs[0] / checkpoint.NAME).read_bytes())
    run_here(report, tmp_path)
    assert "using run.previous.h5" in capsys.readouterr().err
    assert "using run.previous.h5" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "^RUN: expected directories of runs as the first arguments, got none$"),
        (["--out", "b", "a"], "^RUN: expected directories of runs as the first arguments, got none$"),
        (["a", "b"], "^--out: expected a directory for the report of several runs, got ''$"),
        (["/nowhere"], r"^run: expected a directory that holds run.h5, got '/nowhere'$"),
        (["a", "--outt", "b"], "did you mean --out"),
        (["{run}", "--out", "{run}/run.h5"], r"^--out: cannot write .*/run.h5 \(File exists\)$"),
    ],
)
def test_a_mistake_is_reported(runs, arguments, complaint):
    with pytest.raises(UserError, match=complaint):
        report.report([word.format(run=runs[0]) for word in arguments])


def test_a_run_without_a_generation_is_left_out_of_several_and_one_given_twice_counts_once(
    capsys, runs, tmp_path
):
    content = checkpoint.load(runs[0])[0]
    (tmp_path / "begun").mkdir()
    checkpoint.save(tmp_path / "begun", bases.begun(content))
    directories = (runs[0], tmp_path / "begun", tmp_path / "none", f"{runs[0]}/", "--out", tmp_path)
    run_here(report, *directories)
    told, left_out = (text.splitlines() for text in capsys.readouterr())
    assert all(line.startswith("warning: left out: ") for line in left_out)
    assert [line.rpartition(": ")[2][:25] for line in left_out] == [
        "no generation is done yet",
        "expected a directory that",
    ]
    assert [line.rpartition("/")[2] for line in told] == ["search.png", "learning.png", "report.html"]


def test_under_mpiexec_one_rank_draws(launch, runs, tmp_path):
    done = launch(2, "-m", "mpi_es.report", runs[0], "--out", tmp_path)
    assert (done.returncode, done.stderr, done.stdout.count("report.html")) == (0, "", 1)
