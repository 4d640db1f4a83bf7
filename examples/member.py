"""Your own member for pbt: linear regression whose learning rate the population tunes.

From this folder:

    mpiexec -n 2 python -m pbt.train --member member:Regression --max-iter 20 --steps 99 --run-dir runs/lines
    python -m pbt.report runs/lines
"""

import numpy as np

from pbt import Hyperparameter, Member, Score

TRUTH = np.array([1.0, -2.0, 0.5, 3.0])


def sample(generator, count):
    """Return inputs (count, 4) and noisy targets (count,)."""
    inputs = generator.normal(size=(count, len(TRUTH)))
    return inputs, inputs @ TRUTH + generator.normal(0, 0.1, size=count)


class Regression(Member):
    """Weights that stochastic gradient descent fits to samples of a linear function."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.weights = self.rng().normal(size=len(TRUTH))

    @classmethod
    def declared(cls, config):
        return [Hyperparameter("learning_rate", 1e-4, 0.1, "log")]

    def train(self, steps):
        rate = self.hyperparameters["learning_rate"]
        for x, y in zip(*sample(self.rng(), steps), strict=True):
            self.weights = self.weights - rate * 2 * (x @ self.weights - y) * x

    def score(self, episode_seeds):
        errors = []
        for seed in episode_seeds:  # the same samples for each member
            inputs, targets = sample(np.random.default_rng(seed), 50)
            errors.append(((inputs @ self.weights - targets) ** 2).mean())
        return Score(-np.array(errors), np.ones(len(errors)))

    def get_state(self):
        return {"weights": self.weights}

    def set_state(self, state):
        self.weights = state["weights"]
