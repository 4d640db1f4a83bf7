import gymnasium as gym
import numpy as np
import pytest

from mpi_es import envs
from mpi_es.errors import UserError
from mpi_es.worlds.classic_control.small_angles import cosine, sine
from tests.worlds.driving import differences, random_actions

VARIANTS = [
    ("CartPole-v1", {}, 1),
    ("CartPole-v1", {"sutton_barto_reward": True}, 1),
    ("MountainCar-v0", {}, 60),
    ("MountainCar-v0", {"goal_velocity": 0.02}, 60),
    ("MountainCarContinuous-v0", {}, 60),
    ("MountainCarContinuous-v0", {"goal_velocity": 0.03}, 60),
    ("Acrobot-v1", {}, 8),
    ("Pendulum-v1", {}, 4),
    ("Pendulum-v1", {"g": 3.7}, 4),
]


def compared(ours, theirs, episodes, held):
    """Return what differs in random episodes, of which every other goes on with the random numbers before."""
    seeds = [episode if episode % 2 == 0 else None for episode in range(episodes)]
    return differences(ours, theirs, seeds, random_actions(theirs, held))


@pytest.mark.parametrize("episodes", [30, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "options", "held"), VARIANTS)
def test_episodes_are_gymnasium_s_to_the_bit(name, options, held, episodes):
    ours, theirs = gym.make(f"mpi_es/{name}", **options), gym.make(name, **options)
    world = ours.unwrapped.world
    assert (world.observation_space, world.action_space) == (theirs.observation_space, theirs.action_space)
    assert (world.limit, world.metadata) == (theirs.spec.max_episode_steps, theirs.metadata)
    assert compared(ours.unwrapped, theirs, episodes, held) == []


def test_sine_and_cosine_of_small_angles_are_numpy_s_to_the_bit():
    angles = np.random.default_rng(0).uniform(-0.1, 0.1, 5000).astype(np.float32)
    np.testing.assert_array_equal([cosine(x) for x in angles], np.cos(angles))
    np.testing.assert_array_equal([sine(x) for x in angles], np.sin(angles))


@pytest.mark.parametrize(
    "name", ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1", "Pendulum-v1"]
)
def test_the_pictures_are_gymnasium_s(name):
    ours, theirs = (gym.make(each, render_mode="rgb_array") for each in (f"mpi_es/{name}", name))
    for env in (ours, theirs):
        env.reset(seed=3)
        env.action_space.seed(3)
    over = False
    while not over:
        action = theirs.action_space.sample()
        *_, terminated, truncated, _ = theirs.step(action)
        ours.step(action)
        np.testing.assert_array_equal(ours.render(), theirs.render())
        over = terminated or truncated
    ours.close()


@pytest.mark.parametrize(
    ("name", "option", "error"),
    [
        ("CartPole-v1", "sutton_barto_reward=1", "sutton_barto_reward: expected True or False, got 1"),
        ("Pendulum-v1", "g=high", "g: expected a number, got 'high'"),
    ],
)
def test_an_option_that_cannot_be_is_refused(name, option, error):
    with pytest.raises(UserError, match=error):
        envs.make(f"mpi_es/{name}", [option])
