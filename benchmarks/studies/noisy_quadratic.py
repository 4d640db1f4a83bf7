"""A member of a population whose best schedule is known: noisy gradient descent on a quadratic function.

A step of rate a takes x to (1 - a) x - a e, with e from N(0, 1): the gradient of |x|^2 / 2, and noise. From a
mean square v of x it leads to (1 - a)^2 v + a^2, which a = v / (v + 1) makes least. By these rates v after T
steps from 1 is 1 / (T + 1), and no schedule that does not see x does better.
"""

from typing import Any

import numpy as np

from pbt import Hyperparameter, Member, Score

DIM = 100  # enough that one agent's mean square is near the expected one
RATE = 0.01  # where it is not tuned


class Descent(Member):
    """Numbers that descend; the score is -log10 of their mean square, log10(T + 1) by the best schedule."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.x = np.ones(DIM)

    @classmethod
    def declared(cls, config):
        """Return the rate."""
        return [Hyperparameter("rate", 1e-4, 1, "log")]

    def train(self, steps):
        """Descend."""
        rng, rate = self.rng(), self.hyperparameters.get("rate", RATE)
        for noise in rng.standard_normal((steps, DIM)):
            self.x = (1 - rate) * self.x - rate * noise

    def score(self, episode_seeds):
        """Return how small the numbers are."""
        score = -np.log10((self.x**2).mean())
        return Score(np.full(len(episode_seeds), score), np.ones(len(episode_seeds)))

    def get_state(self):
        """Return the numbers."""
        return {"x": self.x}

    def set_state(self, state):
        """Continue from the numbers."""
        self.x = state["x"]
