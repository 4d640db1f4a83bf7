"""Ours beside gymnasium's, step by step."""

import gymnasium as gym
import numpy as np


def differences(world, env: gym.Env, episodes: int, held: int) -> list[str]:
    """Return what differs in episodes of random actions, each held for up to so many steps.

    Every other episode goes on with the random numbers of the one before.
    """
    rng, found = np.random.default_rng(0), []
    state, out = world.fresh.copy()[0], np.empty_like(world.observation_space.sample())
    for episode in range(episodes):
        seed = episode if episode % 2 == 0 else None
        observation, _ = env.reset(seed=seed)
        world.reset(state, -1 if seed is None else seed)
        world.observe(state, out)
        if not np.array_equal(out, observation):
            found.append(f"episode {episode}, first observation: {out} instead of {observation}")
        step, ended = 0, False
        while not ended:
            if step % int(rng.integers(1, held + 1)) == 0:
                action = _action(env.action_space, rng)
            observation, reward, terminated, truncated, _ = env.step(action)
            own_reward, over = world.step(state, action)
            world.observe(state, out)
            step, ended = step + 1, terminated or truncated
            if (own_reward, over) != (reward, terminated) or not np.array_equal(out, observation):
                found.append(f"episode {episode}, step {step}: {own_reward}, {over}, {out} instead of ")
                found[-1] += f"{reward}, {terminated}, {observation}"
                break
    return found


def _action(space, rng):
    """Return a random action, for a Box often beyond its bounds."""
    if isinstance(space, gym.spaces.Discrete):
        return int(rng.integers(space.n))
    return rng.uniform(1.2 * space.low, 1.2 * space.high).astype(np.float32)


def assert_equal(got, expected):
    """Compare dictionaries, arrays and tuples to the bit."""
    assert type(got) is type(expected)
    if isinstance(got, dict):
        assert got.keys() == expected.keys()
        for key in got:
            assert_equal(got[key], expected[key])
    elif isinstance(got, tuple) or (isinstance(got, np.ndarray) and got.dtype == object):
        for one, other in zip(got, expected, strict=True):
            assert_equal(one, other)
    elif isinstance(got, np.ndarray):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        assert got.tobytes() == expected.tobytes()
    else:
        assert got == expected


class Repeat(gym.Wrapper):
    """Repeats an action and adds the rewards."""

    def __init__(self, env, times):
        super().__init__(env)
        self.times = times

    def step(self, action):
        total = 0.0
        for _ in range(self.times):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += reward
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info
