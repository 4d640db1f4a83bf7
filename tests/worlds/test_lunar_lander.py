import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.box2d.lunar_lander import heuristic

from mpi_es import envs
from mpi_es.errors import UserError
from tests.worlds.car_racing.versions import check_versions
from tests.worlds.driving import differences, random_actions

WIND = {"enable_wind": True, "wind_power": 18.0, "turbulence_power": 1.9}
VARIANTS = [  # options, and whether gymnasium's heuristic flies
    ({}, False),
    ({}, True),
    ({"continuous": True}, False),
    ({"continuous": True}, True),
    (WIND, False),
    ({"continuous": True, "gravity": -8.0, **WIND}, True),
]


def pair(options):
    """Return our environment and gymnasium's."""
    check_versions()
    return gym.make("mpi_es/LunarLander-v3", **options).unwrapped, gym.make("LunarLander-v3", **options)


def driver(env, lands):
    """Return who flies."""
    return (lambda seed: lambda observation: heuristic(env, observation)) if lands else random_actions(env)


@pytest.mark.parametrize("episodes", [6, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("options", "lands"), VARIANTS)
def test_episodes_are_gymnasium_s_to_the_bit(options, lands, episodes):
    ours, theirs = pair(options)
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    assert (ours.world.limit, ours.metadata) == (theirs.spec.max_episode_steps, theirs.metadata)
    seeds = [None if episode % 2 else episode for episode in range(episodes)]  # the random numbers go on
    assert differences(ours, theirs, seeds, driver(theirs, lands)) == []


def test_the_continuous_lander_has_an_id_of_its_own():
    ours, theirs = gym.make("mpi_es/LunarLanderContinuous-v3"), gym.make("LunarLanderContinuous-v3")
    assert ours.action_space == theirs.action_space
    assert ours.spec.max_episode_steps == theirs.spec.max_episode_steps


@pytest.mark.parametrize("options", [{}, {"gravity": -2.0}])
def test_the_picture_is_gymnasium_s(options):
    names = ("mpi_es/LunarLander-v3", "LunarLander-v3")
    ours, theirs = (gym.make(name, render_mode="rgb_array", **options) for name in names)
    for seed in (3, 3, 4):  # the same moon again has no flames of the episode before
        for env in (ours, theirs):
            env.reset(seed=seed)
        for action in (2, 0, 1, 2, 3, 3, 2, 2) * 5:  # with the engines' flames
            for env in (ours, theirs):
                env.step(action)
            np.testing.assert_array_equal(ours.render(), theirs.render())
    ours.close()


def test_a_state_from_elsewhere_is_drawn_with_its_own_moon():
    one, other = (gym.make("mpi_es/LunarLander-v3", render_mode="rgb_array").unwrapped for _ in range(2))
    one.reset(seed=1), other.reset(seed=2)
    one.render()
    one._states[:] = other._states
    np.testing.assert_array_equal(one.render(), other.render())


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ("gravity=-12", "gravity: expected a number between -12 and 0, got -12"),
        ("wind_power=much", "wind_power: expected a number, got 'much'"),
        ("continuous=1", "continuous: expected True or False, got 1"),
    ],
)
def test_an_option_that_cannot_be_is_refused(option, error):
    with pytest.raises(UserError, match=error):
        envs.make("mpi_es/LunarLander-v3", [option])
