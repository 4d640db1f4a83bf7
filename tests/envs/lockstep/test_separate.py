import gymnasium as gym
import pytest

from mpi_es.envs.lockstep.base import EpisodeFailed
from mpi_es.envs.lockstep.separate import SeparateEnvs


class Breaking(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.seed = seed
        if seed == 3:
            raise ValueError("no three")
        return 0, {}

    def step(self, action):
        return 1 // (self.seed - 4), 1.0, False, False, {}


def test_environments_are_made_when_they_are_needed_and_used_again():
    batch = SeparateEnvs(lambda: (Breaking(), 9))
    assert (len(batch.envs), batch.limit) == (1, 9)
    places, _ = batch.begin([0, 1])
    batch.end(places[:1])
    assert batch.begin([2])[0].tolist() == [0]
    assert len(batch.envs) == 2


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
