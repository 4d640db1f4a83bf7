import copy
import pickle
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env

from mpi_es.errors import UserError
from mpi_es.jit.listener import heard_by
from mpi_es.registration import WORLDS
from mpi_es.worlds.classic_control.cart_pole import CartPole
from mpi_es.worlds.env import WorldEnv
from mpi_es.worlds.vector_env import WorldVectorEnv
from tests.worlds.user_worlds import Coarse


@pytest.mark.filterwarnings("ignore")  # it advises on bounds
@pytest.mark.parametrize("name", WORLDS)
def test_gymnasium_accepts_it(name):
    check_env(gym.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", WORLDS)
def test_the_registered_limit_is_the_world_s(name):
    env = gym.make(name)
    assert env.unwrapped.world.limit == env.spec.max_episode_steps


def test_first_episodes_without_a_seed_differ():
    first, second = (gym.make("mpi_es/CartPole-v1").reset()[0] for _ in range(2))
    assert not np.array_equal(first, second)


def test_a_world_that_is_made_already_takes_no_options():
    assert WorldEnv(CartPole(sutton_barto_reward=True)).reset(seed=0)[0].shape == (4,)
    with pytest.raises(UserError, match="options: expected none with a world instead of its class"):
        WorldEnv(CartPole(), sutton_barto_reward=True)


def test_a_user_s_world_is_checked_wherever_it_is_used():
    for door in (WorldEnv, partial(WorldVectorEnv, num_envs=2)):
        with pytest.raises(UserError, match=r"expected a Discrete or a Box .* as action_space"):
            door(Coarse())


@pytest.mark.parametrize(
    ("name", "action", "error"),
    [
        ("CartPole-v1", 2, r"expected an action in Discrete\(2\), got 2"),
        ("CartPole-v1", 0.5, r"expected an action in Discrete\(2\), got 0.5"),
        ("Pendulum-v1", np.zeros(2), r"expected the shape \(1,\), got \(2,\)"),
        ("Pendulum-v1", np.array([np.nan]), r"expected finite numbers, got array\(\[nan\]\)"),
    ],
)
def test_what_is_no_action_is_refused(name, action, error):
    env = gym.make(f"mpi_es/{name}").unwrapped
    env.reset(seed=1)
    with pytest.raises(InvalidAction, match=error):
        env.step(action)


def test_options_of_a_reset_are_refused():
    with pytest.raises(UserError, match=r"options: expected none, got \{'low': 0\}"):
        gym.make("mpi_es/CartPole-v1").unwrapped.reset(options={"low": 0})
    with pytest.raises(UserError, match=r"options: expected none but randomize, got \{'randomise': False\}"):
        gym.make("mpi_es/CarRacing-v3").reset(options={"randomise": False})


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
@pytest.mark.parametrize("name", ["mpi_es/CartPole-v1", "mpi_es/CarRacing-v3"])
def test_all_machine_code_is_there_after_the_first_reset(make, name):
    env = make(name)
    env.reset(seed=1)
    with heard_by(lambda: pytest.fail("compiled")):
        env.step(env.action_space.sample())
        env.reset()
        env.reset(seed=2)


def test_a_step_before_the_first_reset_is_refused():
    with pytest.raises(ResetNeeded, match="reset: expected a call before the first step"):
        gym.make("mpi_es/CartPole-v1").unwrapped.step(0)


def test_a_seed_that_is_too_large_is_refused():
    with pytest.raises(UserError, match=f"seed: expected numbers from 0 to .*, got {2**63}"):
        gym.make("mpi_es/CartPole-v1").reset(seed=2**63)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("name", ["CartPole-v1", "LunarLander-v3", "CarRacing-v3"])
def test_a_copy_goes_on_by_itself(name, copied):
    env = gym.make(f"mpi_es/{name}", render_mode="rgb_array").unwrapped
    env.reset(seed=3)
    env.step(env.action_space.sample())
    env.render()
    apart, action = copied(env), env.action_space.sample()
    copied(env).reset(seed=5)
    assert apart.render().shape == env.render().shape
    for ours, theirs in zip(env.step(action), apart.step(action), strict=True):
        np.testing.assert_array_equal(ours, theirs)
