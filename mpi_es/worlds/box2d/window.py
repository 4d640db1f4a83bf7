"""gymnasium's drawing of a scene: its environment gets our bodies."""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym

from mpi_es.worlds import numpy_random


class SceneWindow:
    """gymnasium's environment, used for its drawing only.

    The environment makes the same terrain from the state of the random numbers with which the episode began.

    Args:
        name: its id.
        bodies: its Box2D bodies, in the order of the scene's.
        prepare: sets everything else that the drawing reads, once for each drawn step.
        options: of the environment.
    """

    def __init__(
        self,
        name: str,
        render_mode: str,
        bodies: Callable[[Any], Sequence[Any]],
        prepare: Callable[[Any, Any], None],
        **options: Any,
    ) -> None:
        self.env: Any = gym.make(name, render_mode=render_mode, **options).unwrapped
        self.bodies, self.prepare = bodies, prepare
        self.episode = (0, b"")  # the number and the draws of the one that is drawn
        self.drawn = b""  # the state

    def render(self, state: Any) -> Any:
        """Return the picture, or show it."""
        env = self.env
        episode = int(state["episode"]), state["start"].tobytes()
        if self.episode != episode:
            self.episode = episode
            env.np_random.bit_generator.state = numpy_random.state_of(state["start"])
            env.reset()
            for body in self.bodies(env):
                body.active = False  # they are where we put them
        if self.drawn != state.tobytes():
            self.drawn = state.tobytes()
            for body, ours in zip(self.bodies(env), state["scene"]["bodies"], strict=True):
                body.transform = (float(ours["origin_x"]), float(ours["origin_y"])), float(ours["angle"])
            self.prepare(env, state)
        return env.render()

    def close(self) -> None:
        """Close gymnasium's window."""
        self.env.close()
