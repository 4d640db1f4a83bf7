"""gymnasium's drawing of classic control, for the state of a world."""

from typing import Any

import gymnasium as gym
import numpy as np


class ClassicWindow:
    """gymnasium's environment, used for its drawing only.

    Args:
        name: its id.
        fields: of a world's record, in the order of gymnasium's state.
        last: the field of the last action, if it is drawn; NaN before the first action.
    """

    def __init__(self, name: str, render_mode: str, fields: tuple[str, ...], last: str = "") -> None:
        self.env: Any = gym.make(name, render_mode=render_mode).unwrapped
        self.fields, self.last = fields, last

    def render(self, state: Any) -> Any:
        """Return the picture, or show it."""
        self.env.state = np.array([state[field] for field in self.fields])
        if self.last:
            self.env.last_u = None if np.isnan(state[self.last]) else state[self.last]
        return self.env.render()

    def close(self) -> None:
        """Close gymnasium's window."""
        self.env.close()
