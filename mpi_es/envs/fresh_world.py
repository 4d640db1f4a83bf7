"""A new Box2D world for each episode; gymnasium's environment keeps the old one."""

from typing import Any

import gymnasium as gym


class FreshWorld(gym.Wrapper[Any, Any, Any, Any]):
    """Makes an episode of BipedalWalker depend on its seed and actions only.

    A world that held other bodies finds contacts in another order; within 400 steps more than half of
    the episodes differ.
    """

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Return the first observation, in a new world."""
        env = self.unwrapped
        env._destroy()  # first: it removes the bodies of the last episode from their world
        env.world = type(env.world)()
        observation, info = self.env.reset(**options)
        return observation, info
