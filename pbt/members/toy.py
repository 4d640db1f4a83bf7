"""The toy problem of figure 2 in the paper on population-based training (arXiv:1711.09846).

The score is Q = 1.2 - sum(theta^2). An agent can only ascend 1.2 - sum(h * theta^2). With h = (1, 0) or
(0, 0.1) this improves one of the two parameters.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pbt.config import Config
from pbt.explore import Hyperparameter
from pbt.members.base import Member, Score, Values
from pbt.packing import State

_DECAY, _STEP, _EPSILON = 0.9, 0.01, 1e-5  # of RMSprop
_START = 0.9  # both parameters
_WEIGHTS = ((1.0, 0.0), (0.0, 0.1))  # h of even and of odd members
# A weight of 0 would stay 0 when multiplied. From this floor, at which epsilon slows the ascent, exploration
# alone reaches a Q of 1.198 to 1.200 in 200 steps.
_FLOOR = 0.0035


class Toy(Member):
    """Two numbers that ascend a surrogate of their score."""

    unused: ClassVar[Sequence[str]] = (
        "env",
        "env_options",
        "held_out_env_options",
        "algorithm",
        "member_options",
        "obs_norm",
        "reward_norm",
        "num_envs",
    )

    def __init__(self, config: Config, index: int, *arguments: Any) -> None:
        super().__init__(config, index, *arguments)
        self.theta = np.full(2, _START)
        self.squares = np.zeros(2)  # RMSprop's running mean of the squared gradient
        self.weights = np.array(_WEIGHTS[index % 2])

    @classmethod
    def declared(cls, config: Config) -> list[Hyperparameter]:
        """Return the two weights of the surrogate."""
        return [Hyperparameter(name, _FLOOR, 1) for name in ("h0", "h1")]

    def initial(self, space: Sequence[Hyperparameter]) -> Values:
        """Return the paper's weights; a weight of 0 is below the range."""
        return {one.name: self.hyperparameters[one.name] for one in space}

    @property
    def hyperparameters(self) -> Values:
        """The weights of the surrogate."""
        return dict(zip(("h0", "h1"), self.weights.tolist(), strict=True))

    @hyperparameters.setter
    def hyperparameters(self, values: Values) -> None:
        self.weights = np.array(list((self.hyperparameters | values).values()))

    def train(self, steps: int) -> None:
        """Ascend the surrogate by RMSprop."""
        for _ in range(steps):
            gradient = -2 * self.weights * self.theta
            self.squares = _DECAY * self.squares + (1 - _DECAY) * gradient**2
            self.theta = self.theta + _STEP * gradient / np.sqrt(self.squares + _EPSILON)

    def score(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return Q for each episode."""
        q = 1.2 - float((self.theta**2).sum())
        return Score(np.full(len(episode_seeds), q), np.ones(len(episode_seeds)))

    def get_state(self) -> State:
        """Return the parameters and the optimiser's state."""
        return {"theta": self.theta, "squares": self.squares}

    def set_state(self, state: State) -> None:
        """Continue from the parameters and the optimiser's state."""
        self.theta, self.squares = state["theta"], state["squares"]

    def adopt(self, state: State) -> None:
        """Copy theta only, as the paper's figure does."""
        self.theta = state["theta"]
