"""A strategy of the user's by --strategy package.module:Class."""

import os

import numpy as np
import pytest

from mpi_es import load_run, train
from mpi_es.config.run import configured
from mpi_es.errors import RolloutError, UserError
from mpi_es.run_file import checkpoint
from mpi_es.strategies import make
from mpi_es.strategies.noise import ComputedNoise
from tests.launching import ROOT, assert_same, refused, run_here

HERE = "tests.strategies.user_strategies"
SMALL = ("cartpole", "--population-size", 8, "--num-rollouts", 1, "--eval-every", 2, "--num-eval-rollouts", 3)
QUIET = ("--target-fitness", "None", "--console", "silent", "--no-tensorboard")

MISTAKES = [
    ("BestQuater", "did you mean 'BestQuarter'"),
    ("not_callable", r"expected package.module:Class, constructed as Class\(options, x0, seed, noise\), got"),
    ("Raises", f"--strategy {HERE}:Raises: its constructor failed: RuntimeError: no luck today"),
    ("Deaf", "expected ask, tell, .*, got a strategy without tell, state"),
    ("Loose", "state: expected a dataclass of .*, got 'SimpleNamespace'"),
    ("Listing", "state/seen: expected arrays of numbers, .*, got 'list'"),
    ("Generating", "state/generator/state/state: expected .*, got 'an integer of more than 64 bits'"),
    (
        "Fixed",
        "its state cannot be rebuilt from its fields and assigned, as a resumed run does: AttributeError",
    ),
    ("Wide", r"Wide: sigma: expected a number, got"),
    ("Elsewhere", r"centre: expected an array of numbers \(3,\), got 'float64 \(2,\)'"),
]


def build(name):
    return make(configured(strategy=f"{HERE}:{name}", population_size=8), np.zeros(3), ComputedNoise(1, 3))


@pytest.mark.parametrize(("name", "words"), MISTAKES)
def test_a_mistake_is_one_line(name, words):
    with pytest.raises(UserError, match=words) as raised:
        build(name)
    assert "\n" not in str(raised.value)


def tell_and_read(strategy):
    strategy.tell(strategy.ask(), np.arange(8.0))
    return strategy.state


@pytest.mark.parametrize(
    ("name", "call", "words"),
    [
        (
            "Short",
            lambda made: made.ask(),
            r"ask: expected an array of numbers \(8, 3\), got 'float64 \(7, 3\)'",
        ),
        ("Bare", lambda made: made.ask(), "ask: expected a Dense or a Seeded population, got 'ndarray'"),
        (
            "Insatiable",
            lambda made: made.ask_more(1),
            r"ask_more: expected .* \(8, 3\), got 'float64 \(8, 1\)'",
        ),
        ("Drifting", tell_and_read, "state/sigma: expected arrays of .*, got 'float32'"),
    ],
)
def test_what_it_returns_is_checked(name, call, words):
    with pytest.raises(UserError, match=words):
        call(build(name))


def test_one_that_cannot_ask_for_more_is_refused_where_the_population_is_to_grow():
    config = configured(strategy=f"{HERE}:BestQuarter", population_size=8, num_interactions=100)
    with pytest.raises(UserError, match=r"expected ask, .*, ask_more, got a strategy without ask_more"):
        make(config, np.zeros(3), ComputedNoise(1, 3))


def test_a_function_makes_a_strategy_too():
    assert build("function").ask().rows.shape == (8, 3)


@pytest.mark.parametrize("name", ["BestQuarter", "Ascent"])
def test_a_run_resumes_bit_for_bit_on_other_ranks(launch, exact, tmp_path, name):
    options = (*SMALL, *QUIET, "--strategy", f"{HERE}:{name}")
    run_here(train, *options, "--run-dir", tmp_path / "whole", "--max-iter", 6)
    done = launch(3, "-m", "mpi_es.train", *options, "--run-dir", tmp_path / "broken", "--max-iter", 4)
    assert done.returncode == 0, done.stderr
    run_here(train, "--resume", tmp_path / "broken", "--max-iter", 6)
    assert_same(exact(tmp_path / "whole"), exact(tmp_path / "broken"))


@pytest.mark.parametrize(
    ("name", "words", "saved"),
    [
        ("Unlucky", "ask failed: ZeroDivisionError: ", 1),
        ("Unluckier", "tell failed: KeyError: 'fitness'", 0),
        ("Leaving", "tell failed: SystemExit: enough", 0),
    ],
)
def test_an_ask_or_tell_that_raises_ends_the_run_saved(tmp_path, name, words, saved):
    with pytest.raises(RolloutError, match=f"^--strategy {HERE}:{name}: {words}") as raised:
        run_here(train, *SMALL, *QUIET, "--strategy", f"{HERE}:{name}", "--run-dir", tmp_path)
    assert "user_strategies.py" in str(raised.value)  # the traceback
    assert load_run(tmp_path)["progress"]["generation"] == saved


def test_attributes_of_its_own_are_not_looked_at(tmp_path):
    run_here(train, *SMALL, *QUIET, "--strategy", f"{HERE}:Named", "--max-iter", 2, "--run-dir", tmp_path)
    assert load_run(tmp_path)["history"]["start"].tolist() == [0, 0]


def test_a_state_that_no_file_holds_leaves_the_last_whole_file(tmp_path):
    with pytest.raises(UserError, match=r"state/sigma: expected arrays"):
        run_here(train, *SMALL, *QUIET, "--strategy", f"{HERE}:Drifting", "--run-dir", tmp_path)
    content, warning = checkpoint.load(tmp_path)
    assert (content["progress"]["generation"], len(content["history"]["generation"]), warning) == (0, 0, "")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Speechless", "error: a RolloutError without text\n"),
        ("Short", f"error: --strategy {HERE}:Short: ask: expected an array"),
    ],
)
def test_a_mistake_ends_all_ranks_with_one_line_and_is_the_reason_in_the_file(tmp_path, name, words):
    run = ("--strategy", f"{HERE}:{name}", "--run-dir", tmp_path / "run")
    line = refused(3, "-m", "mpi_es.train", *SMALL, *QUIET, *run)
    assert line.startswith(words)
    assert line == f"error: {load_run(tmp_path / 'run')['life']['reason']}\n"


def test_its_options_are_known_in_a_file_and_as_a_run_is_resumed(tmp_path):
    file, run = tmp_path / "options.toml", tmp_path / "run"
    words = [*map(str, (*SMALL, *QUIET)), "--config", str(file), "--run-dir", str(run)]
    file.write_text(f'strategy = "{HERE}:BestShare"\nshare = 2.0\n')
    with pytest.raises(UserError, match=r"options.toml: share: expected a number in \[0, 1\], got 2.0"):
        train.prepare(words)
    file.write_text(f'strategy = "{HERE}:BestShare"\nshare = 0.5\n')
    with pytest.raises(UserError, match=r"options\.toml: share: no option has this name"):
        train.prepare([*words, "--strategy", "snes"])
    run_here(train, *words, "--max-iter", 2)
    for same in (["--share", "0.5"], ["--config", str(run / "config.toml")]):
        assert train.prepare(["--resume", str(run), "--max-iter", "3", *same]).config.strategy.share == 0.5
    for other, rule in (
        ("--share", "expected 0.5, with which the run began"),
        ("--shar", "did you mean --share"),
    ):
        with pytest.raises(UserError, match=rule):
            train.prepare(["--resume", str(run), other, "0.6"])


ON_ONE = """
import os
from dataclasses import dataclass
from mpi_es import StrategyOptions
from tests.strategies import user_strategies

@dataclass(frozen=True)
class Options(StrategyOptions):
    share: float = 0.25

class BestQuarter(user_strategies.BestQuarter):
    Options = Options

if os.environ.get("PMI_RANK") == "1":
    raise ImportError("not on this node")
"""


def test_a_module_that_one_rank_cannot_import_ends_all(tmp_path, monkeypatch):
    (tmp_path / "on_one.py").write_text(ON_ONE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path)]))
    words = ("--strategy", "on_one:BestQuarter", "--run-dir", tmp_path / "run")
    line = refused(3, "-m", "mpi_es.train", *SMALL, *QUIET, *words)
    assert line == "error: --strategy: importing on_one failed: ImportError: not on this node\n"
