import gymnasium as gym
import pytest

from mpi_es.envs.step_limit import frame_limit, own_limit
from mpi_es.papers.atari_frames import make_stacked
from mpi_es.worlds.classic_control.cart_pole import CartPole
from mpi_es.worlds.env import WorldEnv
from tests.envs import user_envs


@pytest.mark.parametrize(
    ("make", "limit"),
    [
        (lambda: gym.make("CartPole-v1"), 500),
        (lambda: gym.make("mpi_es/CartPole-v1", max_episode_steps=-1), 0),
        (lambda: WorldEnv(CartPole()), 500),
        (user_envs.make_capped, 9),  # within another wrapper
        (user_envs.make_specified, 9),
        (user_envs.make_unwrapped, 0),  # its spec has the limit of the wrapper that is gone
        (user_envs.Endless, 0),
        (make_stacked, 108_000),  # in frames, of which it makes four a step
    ],
)
def test_the_limit_of_a_users_environment_is_found(make, limit):
    assert own_limit(make()) == limit


def test_frames_are_counted_in_steps():
    assert frame_limit({"max_num_frames_per_episode": 108_000, "frameskip": 4}) == 27_000
    assert frame_limit({"max_num_frames_per_episode": 108_000, "frameskip": (2, 5)}) == 0
    assert frame_limit({}) == 0
