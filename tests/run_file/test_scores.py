import math

import numpy as np
import pytest
from scipy import stats

from mpi_es.run_file.records import HeldOut, scalars
from mpi_es.run_file.scores import Scores, deviation, half_interval, interval, mean_and_deviation, summary


def test_the_interval_of_a_mean():
    returns = np.array([1.0, 2.0, 3.0, 4.0])  # deviation 1.291, over 2: 0.645 times 3.182 of Student's t
    assert half_interval(returns) == pytest.approx(2.0542, abs=1e-4)
    assert interval(returns) == pytest.approx((0.4458, 4.5542), abs=1e-4)
    assert half_interval(np.array([5.0])) == 0


def test_a_deviation_is_that_of_a_sample_and_none_of_one_episode():
    assert mean_and_deviation(np.array([4.0, 6.0])) == "5 ± 1.414 (deviation)"
    assert mean_and_deviation(np.array([5.0])) == "5"
    assert (deviation(np.array([4.0, 6.0])), math.isnan(deviation(np.array([5.0])))) == (2**0.5, True)


def test_equal_returns_have_no_deviation():
    assert mean_and_deviation(np.full(20, 200 * 0.1 - 1e-14)) == "20 ± 0 (deviation)"


def test_tensorboard_gets_the_same_deviation():
    assert dict(scalars(HeldOut(1, np.array([4.0, 6.0]))))["held_out/std"] == 2**0.5
    assert "held_out/std" not in dict(scalars(HeldOut(1, np.array([5.0]))))


@pytest.mark.parametrize("n", [*range(2, 30), 100, 10_000])
def test_the_interval_is_that_of_student_s_t(n):
    returns = np.random.default_rng(n).normal(size=n)
    assert half_interval(returns) == pytest.approx(stats.t.ppf(0.975, n - 1) * stats.sem(returns), rel=1e-4)


def test_scores_are_shown_as_an_evaluation_prints_them():
    scores = Scores(np.array([1.0, 2.0, 3.0, 4.0]))
    assert (scores.mean, scores.interval) == (2.5, interval(scores.returns))
    assert str(scores) == repr(scores) == summary(scores.returns)
