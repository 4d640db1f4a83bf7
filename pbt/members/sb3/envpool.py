"""envpool's environments for sb3 members: many environments, stepped at once in compiled code.

They get their seeds from the constructor. The step after the end of an episode begins the next one.
"""

import difflib
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from mpi_es.config.user_objects import parsed
from mpi_es.errors import UserError, expected, one_line


def make(name: str, options: Sequence[str], seeds: Sequence[int]) -> Any:
    """Return envpool's environments of this name, one per seed."""
    if not importlib.util.find_spec("envpool"):
        raise UserError(f"--env: envpool:{name} needs the package 'envpool': pip install it")
    import envpool

    known = envpool.list_all_envs()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        raise expected("--env", "an id of envpool", name, f"did you mean {near[0]!r}?" if near else "")
    chosen = parsed(options, "--env-options")
    try:
        # One thread: a rank is a core.
        return envpool.make(
            name, env_type="gymnasium", num_envs=len(seeds), seed=list(seeds), num_threads=1, **chosen
        )
    except Exception as error:
        raise UserError(f"--env: envpool:{name} cannot be made: {one_line(error)}") from error


def cast(actions: NDArray[Any], space: spaces.Space[Any]) -> NDArray[Any]:
    """Return actions in the dtype that envpool requires."""
    return actions.astype(np.int32 if isinstance(space, spaces.Discrete) else space.dtype)


class Pool(VecEnv):
    """The environments that an algorithm trains on, all stepped at once."""

    def __init__(self, name: str, options: Sequence[str], count: int) -> None:
        self._recipe = name, options
        one = make(name, options, [0])
        self.pool: Any = None
        super().__init__(count, one.observation_space, one.action_space)
        one.close()

    def reset(self) -> NDArray[Any]:
        """Make the environments again, with the seeds of the last call of seed()."""
        self.close()
        seeds = [place if seed is None else seed for place, seed in enumerate(self._seeds)]
        self.pool = make(*self._recipe, seeds)
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


class PoolEpisodes:
    """One episode per seed, stepped together."""

    def __init__(self, name: str, options: Sequence[str], seeds: Sequence[int]) -> None:
        self.pool = make(name, options, seeds)
        self.observations: NDArray[Any] = self.pool.reset()[0]

    def step(
        self, actions: NDArray[Any], running: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return rewards and ends; envpool begins new episodes after those that ended, which do not count."""
        step = self.pool.step(cast(actions, self.pool.action_space))
        self.observations = step[0]
        return step[1].astype(float), step[2] | step[3]

    def close(self) -> None:
        """Close the environments."""
        self.pool.close()
