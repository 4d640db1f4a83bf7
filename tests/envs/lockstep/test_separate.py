import re

import gymnasium as gym
import numpy as np
import pytest

from mpi_es.envs.lockstep.base import EpisodeFailed
from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.errors import RolloutError


class Breaking(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.seed = seed
        if seed == 3:
            raise ValueError("no three")
        return 0, {}

    def step(self, action):
        return 1 // (self.seed - 4), 1.0, False, False, {}


class Noting(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(2)

    def __init__(self, compiled=False):
        self.compiled, self.calls = compiled, []

    def reset(self, *, seed=None, options=None):
        self.calls.append("reset")
        return 0, {}

    def step(self, action):
        self.calls.append("step")
        return 0, 1.0, False, False, {}

    def close(self):
        self.calls.append("close")


@pytest.mark.parametrize(("compiled", "calls"), [(True, ["reset", "step"]), (False, [])])
def test_one_step_is_made_of_an_environment_that_is_compiled(compiled, calls):
    batch = SeparateEnvs(lambda: (Noting(compiled), 9))
    batch.compile()
    assert batch.envs[0].calls == calls


def test_every_environment_is_closed():
    batch = SeparateEnvs(lambda: (Noting(), 9))
    batch.begin([0, 1])
    batch.close()
    assert [env.calls for env in batch.envs] == [["reset", "close"]] * 2


def test_an_environment_that_calls_exit_as_it_is_closed_is_told_by_a_warning(capsys):
    class Exiting(Noting):
        def close(self):
            raise SystemExit(3)

    SeparateEnvs(lambda: (Exiting(), 9)).close()
    assert capsys.readouterr().err == "warning: an environment cannot be closed: SystemExit: 3\n"


def test_environments_are_made_when_they_are_needed_and_used_again():
    batch = SeparateEnvs(lambda: (Breaking(), 9))
    assert (len(batch.envs), batch.limit) == (1, 9)
    places, _ = batch.begin([0, 1])
    batch.end(places[:1])
    assert batch.begin([2])[0].tolist() == [0]
    assert len(batch.envs) == 2


def test_a_function_that_returns_one_environment_twice_is_refused():
    env = gym.make("CartPole-v1")
    batch = SeparateEnvs(lambda: (env, 9))
    batch.begin([0])
    with pytest.raises(RolloutError, match="a new environment in each call, got the same one again"):
        batch.begin([1])


FITS = np.zeros(4, np.uint8)


@pytest.mark.parametrize("other", [np.zeros(1, np.uint8), [0.5, 0.5, 0.5, 0.5], 7, [1, 2, 3, 256]])
@pytest.mark.parametrize("of_step", [False, True])
def test_an_observation_that_does_not_fit_its_space_is_refused(other, of_step):
    class Misfit(Breaking):
        observation_space = gym.spaces.Box(0, 255, (4,), np.uint8)

        def reset(self, *, seed=None, options=None):
            return FITS if of_step else other, {}

        def step(self, action):
            return other, 0.0, False, False, {}

    batch = SeparateEnvs(lambda: (Misfit(), 0))
    with pytest.raises(EpisodeFailed) as failed:
        batch.step(batch.begin([3])[0], np.zeros(1, int))
    assert re.match(r"--env: .* of its space, of the shape \(4,\) and ui", str(failed.value.__cause__))


def test_an_end_that_is_no_truth_value_names_its_episode():
    class Both(Noting):
        def step(self, action):
            return 0, 1.0, np.array([False, True]), False, {}

    batch = SeparateEnvs(lambda: (Both(), 9))
    with pytest.raises(EpisodeFailed) as failed:
        batch.step(batch.begin([3])[0], np.zeros(1, int))
    assert failed.value.index == 0


def test_a_failure_names_its_episode():
    batch = SeparateEnvs(lambda: (Breaking(), 0))
    with pytest.raises(EpisodeFailed) as failed:
        batch.begin([0, 3])
    assert (failed.value.index, str(failed.value.__cause__)) == (1, "no three")
    batch.clear()
    places, _ = batch.begin([0, 1, 4])
    with pytest.raises(EpisodeFailed) as failed:
        batch.step(places[::-1], places)
    assert failed.value.index == 0
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
