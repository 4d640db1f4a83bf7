"""An action of several steps, beside the same environment stepped by hand."""

import gymnasium as gym
import numpy as np
import pytest

from mpi_es import envs
from mpi_es.envs.lockstep.base import EpisodeFailed
from mpi_es.envs.lockstep.repeated import Repeated, repeated
from mpi_es.envs.lockstep.separate import SeparateEnvs


class Counter(gym.Env):
    """Observes and rewards the number of its steps; fails or ends where the seed says so."""

    observation_space = gym.spaces.Box(0, 100, (1,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.seed, self.steps = seed, 0
        return np.zeros(1), {}

    def step(self, action):
        self.steps += 1
        if self.steps == 5 and self.seed == 99:
            raise ValueError("broken")
        return np.full(1, self.steps), float(self.steps), self.steps == self.seed, False, {}


def counters(limit, count):
    return Repeated(SeparateEnvs(lambda: (Counter(), limit)), count)


def test_one_step_needs_no_wrapper():
    batch = envs.open_batch("CartPole-v1")
    assert repeated(batch, 1) is batch
    assert repeated(batch, 4).limit == 125


def test_rewards_are_added_and_the_last_observation_is_seen():
    batch = counters(0, 3)
    places, _ = batch.begin([4, 100])
    observations, rewards, over = batch.step(places, np.zeros(2, np.int64))
    assert (observations.tolist(), rewards.tolist(), over.tolist()) == ([[3], [3]], [6, 6], [False, False])
    observations, rewards, over = batch.step(places, np.zeros(2, np.int64))
    assert (observations.tolist(), rewards.tolist(), over.tolist()) == ([[4], [6]], [4, 15], [True, False])


def test_no_episode_passes_the_limit_of_the_environment():
    batch = counters(7, 3)
    assert batch.limit == 3
    first, _ = batch.begin([100])
    batch.step(first, np.zeros(1, np.int64))
    second, _ = batch.begin([100])
    both, actions = np.concatenate([first, second]), np.zeros(2, np.int64)
    assert batch.step(both, actions)[0].tolist() == [[6], [3]]
    assert batch.step(both, actions)[0].tolist() == [[7], [6]]
    batch.end(first)
    assert batch.step(second, actions[:1])[0].tolist() == [[7]]
    again, _ = batch.begin([100])
    assert batch.step(again, actions[:1])[0].tolist() == [[3]]


def test_an_error_names_the_episode_that_failed():
    batch = counters(0, 3)
    places, _ = batch.begin([4, 99])
    batch.step(places, np.zeros(2, np.int64))
    with pytest.raises(EpisodeFailed) as raised:
        batch.step(places, np.zeros(2, np.int64))
    assert (raised.value.index, str(raised.value.__cause__)) == (1, "broken")


@pytest.mark.parametrize("name", ["CartPole-v1", "envpool:CartPole-v1"])
def test_episodes_are_those_of_single_steps(name):
    if name.startswith("envpool"):
        pytest.importorskip("envpool")
    alone, together = envs.open_batch(name, width=3), repeated(envs.open_batch(name, width=3), 2)
    seeds, actions = [1, 2, 3], np.array([0, 1, 0])
    (places, _), (others, _) = alone.begin(seeds), together.begin(seeds)
    first, again = alone.step(places, actions), alone.step(places, actions)
    observations, rewards, over = together.step(others, actions)
    assert (observations == again[0]).all()
    assert (rewards == first[1] + again[1]).all()
    assert not over.any()
    alone.close()
    together.close()
