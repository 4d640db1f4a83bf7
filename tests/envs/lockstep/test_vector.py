import gymnasium as gym
import numpy as np
import pytest

from mpi_es import envs
from mpi_es.errors import UserError


class OneGenerator(gym.vector.SyncVectorEnv):
    """Ignores the seeds of its environments."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=3, options=options)


def make_sync(num_envs, gravity=-10.0):
    return gym.vector.SyncVectorEnv([lambda: gym.make("LunarLander-v3", gravity=gravity)] * num_envs)


def make_unseeded(num_envs):
    return OneGenerator([lambda: gym.make("LunarLander-v3")] * num_envs)


def make_single(num_envs):
    return gym.make("CartPole-v1")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"vector:{__name__}:make_unseeded", "the episode of a seed differed in another environment"),
        ("vector:CartPole-v1", "--env: expected a VectorEnv whose reset takes a seed for each environment"),
        (f"vector:{__name__}:make_single", "--env: expected a gymnasium.VectorEnv from vector:"),
        (f"vector:{__name__}:make_snyc", "did you mean 'make_sync'?"),
        ("vector:CartPole-v7", "use 'CartPole-v1'"),
    ],
)
def test_what_could_not_be_repeated_is_refused(name, words):
    with pytest.raises(UserError) as raised:
        envs.open_batch(name, width=2)
    assert words in str(raised.value)


def test_episodes_are_those_of_the_environment_alone():
    batch = envs.open_batch(f"vector:{__name__}:make_sync", ("gravity=-5.0",), 3)
    places, observations = batch.begin([4, 5])
    alone = gym.make("LunarLander-v3", gravity=-5.0)
    assert (alone.reset(seed=5)[0] == observations[1]).all()
    for _ in range(5):
        observations, rewards, _ = batch.step(places, np.array([0, 2]))
        expected = alone.step(2)
        assert (expected[0] == observations[1]).all()
        assert expected[1] == rewards[1]


@pytest.mark.parametrize(
    ("name", "limit"), [(f"vector:{__name__}:make_sync", 1000), ("vector:ALE/Pong-v5", 27_000)]
)
def test_the_limit_is_found_where_gymnasium_counts_and_where_the_game_does(name, limit):
    batch = envs.open_batch(name, width=2)
    batch.close()
    assert batch.limit == limit
