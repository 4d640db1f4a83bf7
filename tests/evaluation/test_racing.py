import numpy as np
import pytest

from mpi_es import train
from mpi_es.config.run import Config
from mpi_es.errors import UserError
from mpi_es.evaluation import racing
from mpi_es.evaluation.header import Evaluation
from mpi_es.parallel.collectives import SerialComm
from mpi_es.run_file import checkpoint
from mpi_es.strategies.base import Dense
from mpi_es.strategies.cma_es import CMAES

NAN = np.nan
SMALL = ("cartpole", "--population-size", "4", "--num-rollouts", "2", "--racing", "1", "--max-iter", "1")
QUIET = ("--num-eval-rollouts", "2", "--console", "silent", "--no-tensorboard", "--no-track-mean")
# The second, which was dropped, came to more than others in the episode that it played.
RACED = Evaluation(
    np.array([[7.0, 7.0], [8.0, NAN], [5.0, 5.0], [4.0, 4.0]]),
    np.array([[9, 9], [9, 0], [9, 9], [9, 9]]),
    np.zeros((7, 0)),
    idle=0.0,
)


def play(population, seeds, mean):
    """Return each candidate's own number plus the episode's seed, in as many steps as the seed."""
    numbers = np.append(population.rows[:, 0], [] if mean is None else mean[0])
    returns = numbers[:, None] + seeds
    idle = 0.3 if seeds.shape[1] == 2 else 0.5
    return Evaluation(returns, seeds + 0, np.ones((seeds.size, 1)), idle)


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
    assert raced.idle == pytest.approx((15 * 0.3 + 12 * 0.5) / 27)  # of heats and finals, by their steps
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
    history = checkpoint.load(tmp_path)[0]["history"]
    assert history["min"].min() >= 1  # a step of CartPole is worth 1
    # Eight candidates and the mean play one episode; all but three of them, two more.
    assert history["episodes"].tolist() == [9 + 2 * 6] * 2


def test_the_strategy_is_told_that_the_dropped_are_below_all_others(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(CMAES, "tell", lambda self, population, fitness: told.append(fitness))
    monkeypatch.setattr(racing, "race", lambda *arguments: RACED)
    train.main(SerialComm(), [*SMALL, *QUIET, "--run-dir", str(tmp_path)])
    assert [fitness.tolist() for fitness in told] == [[7.0, 3.0, 5.0, 4.0]]


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
