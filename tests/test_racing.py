import numpy as np
import pytest

from mpi_es import checkpoint, racing, train
from mpi_es.comm import SerialComm
from mpi_es.config import Config
from mpi_es.errors import UserError
from mpi_es.job import Evaluation
from mpi_es.strategies.base import Dense

NAN = np.nan


def play(population, seeds, mean):
    """Return each candidate's own number plus the episode's seed, in as many steps as the seed."""
    numbers = np.append(population.rows[:, 0], [] if mean is None else mean[0])
    returns = numbers[:, None] + seeds
    return Evaluation(returns, seeds + 0, np.ones((seeds.size, 1)), idle=0.0)


def test_only_survivors_play_on():
    population = Dense(np.array([[9.0], [1.0], [8.0], [2.0]]))
    seeds = np.tile([1, 2, 3], (5, 1))
    raced = racing.race(play, population, seeds, np.array([0.0]), 2)
    assert np.array_equal(
        raced.returns,
        [[10, 11, 12], [2, 3, NAN], [9, 10, 11], [3, 4, 5], [1, 2, 3]],
        equal_nan=True,
    )
    assert raced.lengths.tolist() == [[1, 2, 3], [1, 2, 0], [1, 2, 3], [1, 2, 3], [1, 2, 3]]
    assert raced.played == 14
    assert len(raced.sums) == 14


def test_the_worst_three_eighths_are_dropped_and_of_equals_the_first():
    returns = np.array([[5.0], [0.0], [1.0], [1.0], [1.0], [9.0], [8.0], [7.0]])
    assert racing.survivors(returns).tolist() == [True, False, False, False, True, True, True, True]


def test_of_two_candidates_none_is_dropped():
    assert racing.survivors(np.array([[1.0], [0.0]])).tolist() == [True, True]


def test_the_dropped_are_below_all_others_in_their_own_order():
    returns = np.array([[9.0, 1.0], [7.0, NAN], [6.0, 6.0], [3.0, NAN]])
    assert racing.ordered(np.nanmean(returns, axis=1), returns).tolist() == [5.0, 4.0, 6.0, 0.0]
    behind = np.array([[9.0, 1.0], [4.0, NAN], [6.0, 6.0]])
    assert racing.ordered(np.nanmean(behind, axis=1), behind).tolist() == [5.0, 4.0, 6.0]


def test_without_racing_the_order_is_that_of_the_means():
    returns = np.random.default_rng(0).normal(size=(5, 7))
    assert np.array_equal(racing.ordered(returns.mean(axis=1), returns), returns.mean(axis=1))


def test_the_history_holds_what_was_measured(tmp_path):
    few = "cartpole --population-size 8 --num-rollouts 3 --racing 1 --max-iter 2 --num-eval-rollouts 2"
    words = f"{few} --console silent --no-tensorboard --run-dir {tmp_path}".split()
    assert train.main(SerialComm(), words) == 0
    assert checkpoint.load(tmp_path)[0]["history"]["min"].min() >= 1  # a step of CartPole is worth 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"racing": 4, "num_rollouts": 4}, "--racing: expected less than --num-rollouts 4, got 4"),
        ({"racing": 2, "num_rollouts": 4, "strategy": "openai_es"}, "--racing: expected 0 for a strategy"),
    ],
)
def test_a_race_that_cannot_be_is_refused(options, complaint):
    with pytest.raises(UserError, match=complaint):
        Config(**options)
