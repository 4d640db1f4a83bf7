"""Comparison to the bit, and what a vector that skips frames is compared with."""

import gymnasium as gym
import numpy as np


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
