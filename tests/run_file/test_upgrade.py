"""Runs of older versions go on under this one, and end as they would have ended."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from mpi_es.run_file.upgrade import check_resumable, upgraded
from tests.launching import assert_same, exact_content
from tests.pbt.runs import exact as exact_population

FIXTURES = Path(__file__).parents[1] / "fixtures"
HASWELL = {"OPENBLAS_CORETYPE": "Haswell"}  # with whose kernels the fixtures were made


def resumed(launch, name, module, directory):
    """Resume the stored run on two ranks; return the directories of the result and of the unbroken run."""
    run, unbroken = directory / "run", directory / "unbroken"
    for place, file in ((run, "run.h5"), (unbroken, "unbroken.h5")):
        place.mkdir()
        shutil.copy(FIXTURES / name / file, place / "run.h5")
    done = launch(2, "-m", module, "--resume", run, "--max-iter", 8, env=os.environ | HASWELL)
    assert (done.returncode, done.stderr) == (0, "")
    return run, unbroken


def test_a_run_of_format_1_ends_as_an_unbroken_one_of_its_time(launch, tmp_path):
    run, unbroken = map(exact_content, resumed(launch, "cartpole", "mpi_es.train", tmp_path))
    for content in (run, unbroken):
        del content["history"]["agreement"]  # which versions of that time did not measure
    assert_same(run, unbroken)
    assert len(run["history"]["fitness_of_centre"]) == 8


def test_a_population_of_format_1_ends_as_an_unbroken_one_of_its_time(launch, tmp_path):
    run, unbroken = map(exact_population, resumed(launch, "toy", "pbt.train", tmp_path))
    for name in ("hyperparameters", "members", "progress", "history"):  # evaluations follow --max-iter
        assert_same(run[name], unbroken[name])


def test_a_run_that_depends_on_a_removed_option_is_read_and_not_resumed():
    content = upgraded({"config": {"racing": 2, "seed": 1}}, 1)
    assert content["config"] == {"seed": 1}
    with pytest.raises(UserError, match=r"run: expected one without --racing, .*, got --racing 2"):
        check_resumable(content)
    check_resumable(upgraded({"config": {"racing": 0}}, 1))


def test_the_fixtures_are_of_format_1():
    first = (FIXTURES / "cartpole" / "run.h5").read_bytes()[:40]
    assert first.startswith(b"mpi_es run.h5 1 blake2b")
    assert checkpoint.VERSION == 2


def test_a_run_from_before_restarts_had_one_start():
    content = {"config": {"population_size": 6}, "history": {"elite": np.array([2, 3])}}
    history = upgraded(content, 2)["history"]
    assert (history["popsize"].tolist(), history["start"].tolist()) == ([6, 6], [0, 0])


def test_a_run_from_before_the_agreement_has_a_fixed_number_of_episodes():
    content = {
        "config": {"population_size": 6, "num_rollouts": 3},
        "history": {"elite": np.array([2, 3])},
        "progress": {"episode_cap": 0},
    }
    changed = upgraded(content, 2)
    assert np.isnan(changed["history"]["agreement"]).tolist() == [True, True]
    assert changed["progress"]["num_rollouts"] == 3
    assert np.isnan(changed["progress"]["agreement"])


@pytest.mark.parametrize("nested", [False, True])
def test_snes_from_before_its_learning_rate_has_the_papers(nested):
    own = {"generation": 2, "centre": np.zeros(2), "sigma": np.ones(2)}
    content = {"config": {"strategy": "snes"}, "state": {"generation": 2, "inner": own} if nested else own}
    state = upgraded(content, 2)["state"]
    assert (state["inner"] if nested else state)["learning_rate"] == 1.0
    assert "learning_rate" not in upgraded({"config": {"strategy": "ga"}, "state": {"centre": 1}}, 2)["state"]
