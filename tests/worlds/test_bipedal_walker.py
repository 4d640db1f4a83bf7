import functools

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.box2d.bipedal_walker import BipedalWalkerHeuristics

import mpi_es
from mpi_es.envs.fresh_world import FreshWorld
from tests.launching import ROOT
from tests.worlds.car_racing.versions import check_versions
from tests.worlds.driving import differences, random_actions

DRIVERS = ("random", "noisy", "trained", "heuristic")


def pair(hardcore):
    """Return our environment and gymnasium's, with a new Box2D world for each episode."""
    check_versions()
    ours = gym.make("mpi_es/BipedalWalker-v3", hardcore=hardcore).unwrapped
    return ours, FreshWorld(gym.make("BipedalWalker-v3", hardcore=hardcore))


@functools.cache
def trained(hardcore):
    """Return a walker that was trained for this ground."""
    return mpi_es.load_agent(ROOT / "docs" / "bipedalwalker" / ("hardcore.h5" if hardcore else "run.h5"))


def driver(env, name):
    """Return who walks."""
    agent = trained(env.unwrapped.hardcore)

    def walk(seed):
        rng, noise = np.random.default_rng(seed), 0.3 if name == "noisy" else 0.0
        return lambda o: np.clip(agent(o) + rng.normal(0, noise, 4), -1.2, 1.2).astype(np.float32)

    def plan(seed):
        heuristics = BipedalWalkerHeuristics()
        return lambda observation: heuristics.step_heuristic(observation).astype(np.float32)

    return {"random": random_actions(env), "heuristic": plan}.get(name, walk)


@pytest.mark.parametrize("episodes", [2, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("hardcore", [False, True])
@pytest.mark.parametrize("name", DRIVERS)
def test_episodes_are_gymnasium_s_to_the_bit(name, hardcore, episodes):
    ours, theirs = pair(hardcore)
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    assert ours.metadata == theirs.metadata
    assert differences(ours, theirs, range(episodes), driver(theirs, name)) == []


@pytest.mark.parametrize("name", ["BipedalWalker-v3", "BipedalWalkerHardcore-v3"])
def test_an_episode_is_cut_when_gymnasium_s_is(name):
    ours, theirs = gym.make(f"mpi_es/{name}"), gym.make(name)
    steps = theirs.spec.max_episode_steps
    assert (ours.spec.max_episode_steps, ours.unwrapped.world.limit) == (steps, steps)
    assert ours.unwrapped.world.hardcore == theirs.unwrapped.hardcore


@pytest.mark.parametrize("hardcore", [False, True])
def test_the_picture_is_gymnasium_s(hardcore):
    ours, theirs = (
        gym.make(name, render_mode="rgb_array", hardcore=hardcore)
        for name in ("mpi_es/BipedalWalker-v3", "BipedalWalker-v3")
    )
    for env in (ours, FreshWorld(theirs)):
        env.reset(seed=4)
        for _ in range(40):
            env.step(np.array([0.5, -0.5, 0.2, 0.1], np.float32))
    for _ in range(3):  # the lidar's rays take turns
        np.testing.assert_array_equal(ours.render(), theirs.render())
    ours.close()
