"""CyclicMDP: three states in a ring, in which a greedy learner stops early.

From karush17's post on evolution strategies, https://karush17.github.io/posts/2012/08/blog-post-11/.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.world import record

ONWARD = 1  # the action that moves on
MISTAKE = -1.0  # the reward of any other action, which ends the episode


class CyclicMDP:
    """A ring of three states, observed one-hot; every round is worth 4."""

    limit = 1000
    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012  (gymnasium's form)

    def __init__(self) -> None:
        self.fresh = record(place=0)
        self.observation_space = spaces.Box(0.0, 1.0, (3,), np.float32)
        self.action_space = spaces.Discrete(3)
        self.reset, self.step, self.observe = reset, step, observe

    def window(self, render_mode: str) -> "Text":
        """Return the object that shows the ring as text."""
        return Text()


class Text:
    """Shows the ring as text, with the state in brackets."""

    def render(self, state: Any) -> str:
        """Return the text."""
        return " -> ".join(f"[{i}]" if i == state["place"] else f" {i} " for i in range(3))

    def close(self) -> None:
        """Do nothing."""


@compiled()
def reset(state: Any, seed: int) -> None:
    """Return to the first state."""
    state.place = 0


@compiled()
def step(state: Any, action: int) -> tuple[float, bool]:
    """Move on, or make the mistake that ends the episode."""
    if action != ONWARD:
        return MISTAKE, True
    reward = 2.0 if state.place == 2 else 1.0
    state.place = (state.place + 1) % 3
    return reward, False


@compiled()
def observe(state: Any, out: NDArray[np.float32]) -> None:
    """Write the state one-hot."""
    for i in range(3):
        out[i] = 1.0 if i == state.place else 0.0
