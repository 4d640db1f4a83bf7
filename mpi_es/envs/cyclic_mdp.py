"""CyclicMDP: three states in a ring, where a learner that values one step at a time stops early.

From karush17's post on evolution strategies, https://karush17.github.io/posts/2012/08/blog-post-10/.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

ONWARD = 1  # the action that moves on
REWARDS = (1.0, 1.0, 2.0)  # for moving on from each state
MISTAKE = -1.0  # the reward of any other action, which ends the episode

Observation = NDArray[np.float32]


class CyclicMDP(gym.Env[Observation, np.int64]):
    """A ring of three states, observed one-hot; every turn of it is worth 4."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 (gymnasium's own form)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = gym.spaces.Box(0.0, 1.0, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(3)
        self._state = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Return to the first state."""
        super().reset(seed=seed)
        self._state = 0
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Move on, or make the mistake that ends the episode."""
        if action != ONWARD:
            return self._observation(), MISTAKE, True, False, {}
        reward = REWARDS[self._state]
        self._state = (self._state + 1) % 3
        return self._observation(), reward, False, False, {}

    def render(self) -> str | None:
        """Return the ring as text, its state in brackets."""
        states = (f"[{i}]" if i == self._state else f" {i} " for i in range(3))
        return " -> ".join(states) if self.render_mode == "ansi" else None

    def _observation(self) -> Observation:
        observation = np.zeros(3, np.float32)
        observation[self._state] = 1
        return observation
