from dataclasses import replace

import numpy as np
import pytest

from pbt.config import Config
from pbt.explore import Hyperparameter
from pbt.lineage import Generation
from pbt.pb2.explore import data, explore
from tests.pbt.runs import WALKERS, run

RATE, COUNT = Hyperparameter("rate", 1e-4, 1, "log"), Hyperparameter("count", 1, 9, integer=True)
N, NAN = 4, float("nan")


def generation(number, scores, rates, source=range(N)):
    return Generation(number, np.array(scores, float), np.ones(N), np.c_[rates], np.array(source))


def test_a_gain_is_counted_from_the_state_that_was_trained_on():
    first = generation(1, [1, 2, 3, NAN], [1e-4, 1e-2, 1, 1], [0, 2, 2, 2])
    second = generation(2, [5, 6, NAN, 8], [1e-4, 1e-2, 1, 1])
    rows, gains = data([RATE], [first, second])
    assert rows.tolist() == [[2, 1, 0], [2, 3, pytest.approx(0.5)], [2, 3, 1]]
    assert gains.tolist() == [4, 3, 5]


def test_only_the_newest_rows_count():
    generations = [generation(number, [number] * N, [1e-2] * N) for number in range(1, 200)]
    rows, gains = data([RATE], generations)
    assert rows[:, 0].tolist() == [number for number in range(136, 200) for _ in range(N)]
    assert len(gains) == 256


def past(best, generations=12, seed=0):
    """Return generations in which a member gains the more, the nearer its rate is to 10^best."""
    rng, scores, rows = np.random.default_rng(seed), np.zeros(N), []
    for number in range(1, generations + 1):
        rates = 10 ** rng.uniform(-4, 0, N)
        scores = scores + np.exp(-((np.log10(rates) - best) ** 2))
        rows.append(generation(number, scores, rates))
    return rows


def generators(*members, seed=3):
    return {member: np.random.default_rng((seed, member)) for member in members}


@pytest.mark.parametrize("best", [-3, -1])
def test_the_bandit_finds_the_hyperparameter_that_gained_most(best):
    chosen = explore([RATE], past(best), np.full((N, 1), 1e-4), generators(2))
    assert np.log10(chosen[2, 0]) == pytest.approx(best, abs=0.4)
    assert chosen[[0, 1, 3], 0].tolist() == [1e-4] * 3


def test_members_of_one_generation_try_different_values():
    equal = [*past(-2, 5), generation(6, [9] * N, [1e-3] * N)]  # members alike in all but what they get
    chosen = explore([RATE], equal, np.full((N, 1), 0.5), generators(0, 1, 2, 3))
    places = np.sort([RATE.place(rate) for rate in chosen[:, 0]])
    assert np.diff(places).min() > 0.05


def test_before_there_are_data_values_come_from_the_whole_range():
    first = [generation(1, [1, 2, 3, 4], np.ones(N))]
    values = np.array([[1.0, 9.0]] * N)
    chosen = np.array([explore([RATE, COUNT], first, values, generators(1, seed=s))[1] for s in range(40)])
    assert np.log10(chosen[:, 0]).min() < -3.5
    assert np.log10(chosen[:, 0]).max() > -0.5
    assert {*range(1, 8)} <= set(chosen[:, 1])  # fewer near the 9 of the other members


SMALL = Config(WALKERS + "Walker", num_agents=6, steps=5, max_iter=8, num_rollouts=3, explore="pb2")


def test_a_run_explores_its_members_that_copied():
    lineage = run(SMALL).record.lineage
    values, source = lineage.stacked("hyperparameters"), lineage.stacked("source")
    for generation in range(7):
        moved = (values[generation + 1] != values[generation]).any(axis=1)
        assert moved.tolist() == (source[generation] != np.arange(6)).tolist()


def test_other_seeds_give_other_values():
    one, other = (run(replace(SMALL, seed=seed)).hyperparameters for seed in (1, 2))
    assert (one != other).all(axis=1).any()
