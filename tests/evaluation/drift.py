"""An environment for tests of rollouts: quick, noisy, and its episodes end when they like."""

import gymnasium as gym
import numpy as np


class Drift(gym.Env):
    """A state that drifts with the actions; about one step in twelve is the last."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        self.draw = np.random.default_rng(seed)
        self.state = self.draw.normal(2, 1, 3)
        return self.state.astype(np.float32), {}

    def step(self, action):
        assert action.dtype == np.float32
        assert not (np.abs(action) > 1).any()
        self.state = 0.9 * self.state + [*action, action[0] * action[1]] + 0.1 * self.draw.normal(size=3)
        reward = max(self.state.sum(), 0.0) if self.state[0] > 0 else self.state.sum()  # now and then 0
        return self.state.astype(np.float32), reward, self.draw.random() < 1 / 12, False, {}


def make():
    return Drift()
