"""envpool's environments for the training of sb3 members: many environments, stepped at once.

The constructor takes their seeds. The step after the end of an episode begins the next one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from mpi_es.envs.lockstep.envpool import cast, maker


class Pool(VecEnv):
    """The environments that an algorithm trains on, all stepped at once."""

    def __init__(self, name: str, options: Sequence[str], count: int) -> None:
        self._make = maker(name, options)
        one = self._make([0])
        self.pool: Any = None
        super().__init__(count, one.observation_space, one.action_space)
        one.close()

    def reset(self) -> NDArray[Any]:
        """Make the environments again, with the seeds of the last call of seed()."""
        self.close()
        seeds = [place if seed is None else seed for place, seed in enumerate(self._seeds)]
        self.pool = self._make(seeds)
        observations: NDArray[Any] = self.pool.reset()[0]
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Store the actions for step_wait."""
        self._actions = cast(actions, self.action_space)

    def step_wait(self) -> Any:
        """Step all environments, and reset those whose episodes ended."""
        observations, rewards, over, cut, _ = self.pool.step(self._actions)
        ended, infos = over | cut, [dict[str, Any]() for _ in rewards]
        if ended.any():
            observations = observations.copy()
            for place in np.flatnonzero(ended).tolist():
                infos[place] = {
                    "terminal_observation": observations[place].copy(),
                    "TimeLimit.truncated": bool(cut[place] and not over[place]),
                }
            places = np.flatnonzero(ended).astype(np.int32)
            observations[places] = self.pool.reset(places)[0]
        return observations, rewards, ended, infos

    def close(self) -> None:
        """Close the environments."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return None for render_mode, the only attribute: envpool's environments are not Python objects."""
        if attr_name != "render_mode":
            raise AttributeError(attr_name)
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: envpool's environments are not Python objects."""
        raise AttributeError(attr_name)

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Refuse: envpool's environments are not Python objects."""
        raise AttributeError(method_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return that no environment is wrapped."""
        return [False] * self.num_envs
