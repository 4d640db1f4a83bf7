import math
from functools import partial

import numpy as np
import pytest
import torch

from mpi_es.errors import RolloutError
from mpi_es.evaluation.function.call_directories import CallDirectories
from mpi_es.evaluation.function.problem import problem, takes
from mpi_es.evaluation.function.rollout import FunctionRollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from tests.evaluation.headers import header


def total(x):
    return x.sum()


def noisy(x, seed):
    return x.sum() + seed


def calls(function, candidates, seeds, **options):
    """Return the values of candidates, each with a seed."""
    return call_all(FunctionRollout(problem(function, candidates[0], **options)), candidates, seeds)


def call_all(rollout, candidates, seeds):
    """Return the values that a rollout has of candidates, each with a seed."""
    pairs = zip(seeds, candidates, strict=False)
    source = StaticSource(Episode(i, i, seed, x) for i, (seed, x) in enumerate(pairs))
    rows = rollout.run(source, EpisodeRules())
    np.testing.assert_array_equal(rows[:, 0], np.arange(len(seeds)))
    np.testing.assert_array_equal(rows[:, 2], 1)
    return rows[:, 1].tolist()


CANDIDATES = np.array([[1.0, 2.0], [3.0, 4.0 + 1e-12]])


def test_a_call_is_an_episode_of_one_step_in_double_precision():
    assert calls(total, CANDIDATES, [7, 8]) == [3.0, 7.0 + 1e-12]


def test_what_is_minimised_has_the_opposite_fitness():
    assert calls(total, CANDIDATES, [7, 8], minimise=True) == [-3.0, -7.0 - 1e-12]


def test_a_function_that_takes_a_seed_gets_the_episodes():
    assert calls(noisy, CANDIDATES, [7, 8]) == [10.0, 15.0 + 1e-12]


@pytest.mark.parametrize(
    ("function", "has_seed"),
    [
        (total, False),
        (noisy, True),
        (partial(noisy, seed=1), True),
        (partial(noisy, 1), True),
        (math.sqrt, False),
    ],
)
def test_which_functions_take_a_seed(function, has_seed):
    assert takes(function, "seed") == has_seed
    assert FunctionRollout(problem(function, [0.0])).exact == (not has_seed)


@pytest.mark.parametrize(
    "value", [3, 3.0, np.float32(3), np.array([3.0]), torch.tensor(3.0), torch.ones(1) * 3]
)
def test_any_number_is_a_value(value):
    assert calls(lambda x: value, CANDIDATES, [0, 0]) == [3.0, 3.0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "expected a finite number, got nan"),
        (math.inf, "expected a finite number, got inf"),
        (None, "expected the function to return a number, got None$"),
        (10**400, "expected the function to return a number, got 1000+…$"),
        (1j, "expected the function to return a number, got 1j$"),
        (np.zeros(2), r"expected the function to return a number, got array.*, of shape \(2,\)$"),
        (torch.zeros(2), r"expected the function to return a number, got tensor.*, of shape \(2,\)$"),
    ],
)
def test_what_is_no_number_is_reported_with_its_candidate(value, message):
    with pytest.raises(RolloutError, match=rf"candidate 0: .*{message}"):
        calls(lambda x: value, CANDIDATES, [0, 0])


@pytest.mark.parametrize("nan", [math.nan, np.float32("nan"), np.array([math.nan]), torch.tensor(math.nan)])
def test_a_call_that_returns_nan_knows_no_constraints(nan):
    evaluated = problem(lambda x: nan, [0.0], constraints=2)
    rollout = FunctionRollout(evaluated, failures_are_worst=True)
    rows = rollout.run(StaticSource([Episode(0, 0, 0, np.zeros(1))]), EpisodeRules())
    assert np.isnan(rows[0, [1, 3, 4]]).all()


def test_an_error_of_a_random_function_names_its_seed_and_shows_the_line():
    def broken(x, seed):
        raise ValueError("too deep")

    with pytest.raises(
        RolloutError, match=r"(?s)candidate 0, seed 7: ValueError: too deep\n.*raise ValueError"
    ):
        calls(broken, CANDIDATES, [7, 8])


def in_directories(run, function, episodes, rules, **options):
    """Return what the calls of episodes return, with the directories of a run."""
    directories = CallDirectories(run, "all")
    rollout = FunctionRollout(problem(function, [0.0]), directories=directories, **options)
    rows = rollout.run(StaticSource(episodes), rules)
    return rows[:, 1].tolist()


def test_a_call_has_a_directory_with_the_names_of_generation_and_candidate(tmp_path):
    def cost(x, directory):
        (directory / "x").write_text(str(x[0]))
        return len([*directory.iterdir()])

    episodes = [Episode(i, i, 7, [float(i)]) for i in range(2)]
    assert in_directories(tmp_path, cost, episodes, EpisodeRules(generation=3)) == [1.0, 1.0]
    assert in_directories(tmp_path, cost, episodes[:1], EpisodeRules(generation=3, held_out=True)) == [1.0]
    found = {path.parent.name: path.read_text() for path in tmp_path.glob("calls/*/x")}
    assert found == {"00003-0000": "0.0", "00003-0001": "1.0", "00003-centre": "0.0"}


def test_calls_of_a_random_function_are_numbered_for_each_candidate(tmp_path):
    def cost(x, seed, directory):
        return int(directory.name.rpartition("-")[2]) + seed

    episodes = [header(3).episode(i, lambda candidate: [0.0]) for i in range(3)]
    assert in_directories(tmp_path, cost, episodes, EpisodeRules()) == [100.0, 102.0, 104.0]


def test_a_call_that_returns_no_number_keeps_its_directory(tmp_path):
    directories = CallDirectories(tmp_path, "failed")
    function = problem(lambda x, directory: x[0], [0.0])
    rollout = FunctionRollout(function, directories=directories, failures_are_worst=True)
    np.testing.assert_array_equal(call_all(rollout, [[math.nan], [1.0]], [0, 0]), [math.nan, 1.0])
    assert [path.name for path in (tmp_path / "calls").iterdir()] == ["00000-0000"]


def test_a_function_that_calls_exit_ends_no_rank():
    with pytest.raises(RolloutError, match="candidate 0: SystemExit: 3"):
        calls(lambda x: exit(3), CANDIDATES, [0, 0])


def test_the_function_sees_x_within_the_bounds_and_may_change_it():
    seen = []

    def greedy(x):
        seen.append(x.copy())
        x += 100.0
        return 0.0

    candidates = np.array([[0.5], [5.0]])
    calls(greedy, candidates, [0, 0], bounds=(0, 4))
    np.testing.assert_array_equal(seen, [[0.5], [3.875]])
    np.testing.assert_array_equal(candidates, [[0.5], [5.0]])
