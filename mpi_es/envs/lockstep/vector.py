"""gymnasium's VectorEnv, such as ale_py's AtariVectorEnv: a step steps all its environments."""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from mpi_es.envs.lockstep.base import Places, check_observation, close
from mpi_es.envs.step_limit import frame_limit, own_limit
from mpi_es.errors import expected, one_line

PREFIX = "vector:"
MakeVector = Callable[[int], Any]  # number of environments -> VectorEnv


class VectorEnvs:
    """The environments of a VectorEnv. Those without an episode are stepped too, and ignored.

    Args:
        make: makes the VectorEnv.
        width: how many episodes it holds.
    """

    steps_together = True

    def __init__(self, name: str, make: MakeVector, width: int) -> None:
        _check(name, make(2))
        self._env, self._width = make(width), width
        self.observation_space = self._env.single_observation_space
        self.action_space = self._env.single_action_space
        self.limit = _limit(self._env)
        idle = _idle(self.action_space)  # of those without an episode
        self._actions = np.full((width, *self.action_space.shape), idle, self.action_space.dtype)
        _reset(self._env, np.ones(width, np.bool_), np.zeros(width, np.int64))
        self.clear()

    def begin(self, seeds: Sequence[int]) -> tuple[Places, NDArray[Any]]:
        """Reset environments that are free."""
        places = np.flatnonzero(self._free)[: len(seeds)]
        self._free[places] = False
        mask = np.zeros(self._width, np.bool_)
        mask[places] = True
        return places, self._given(_reset(self._env, mask, np.array(seeds, np.int64)), places)

    def step(
        self, places: Places, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Step all environments."""
        self._actions[places] = actions
        observations, rewards, terminated, truncated, _ = self._env.step(self._actions.copy())
        given = self._given(observations, places)
        return given, rewards[places].astype(np.float64), (terminated | truncated)[places]

    def _given(self, observations: NDArray[Any], places: Places) -> NDArray[Any]:
        return observations[places].astype(self.observation_space.dtype, copy=False)

    def end(self, places: Places) -> None:
        """Free the places."""
        self._free[places] = True

    def clear(self) -> None:
        """Free all places."""
        self._free = np.ones(self._width, np.bool_)

    def compile(self) -> None:
        """Do nothing: a VectorEnv compiles for itself."""

    def close(self) -> None:
        """Close the VectorEnv."""
        close(self._env)


def _reset(env: Any, mask: NDArray[np.bool_], seeds: NDArray[np.int64]) -> NDArray[Any]:
    """Begin episodes where the mask is set, each with its own seed; return all observations."""
    if type(env.unwrapped).__module__.startswith(
        "ale_py"
    ):  # it takes seeds only for the environments of the mask
        given: Any = seeds
    else:
        places = np.flatnonzero(mask).tolist()
        given = [None] * len(mask)
        for place, seed in zip(places, seeds.tolist(), strict=True):
            given[place] = seed
    observations: NDArray[Any] = env.reset(seed=given, options={"reset_mask": mask})[0]
    return observations


def _limit(env: Any) -> int:
    """Return the step limit of an episode; 0 if the VectorEnv does not give one."""
    if isinstance(env.unwrapped, gym.vector.SyncVectorEnv):
        return own_limit(env.unwrapped.envs[0])
    if not env.spec:
        return 0
    given = env.spec.kwargs.get("max_episode_steps")  # gymnasium.make_vec passes it on, but spec has the id's
    return max(given or env.spec.max_episode_steps or frame_limit(env.spec.kwargs), 0)


def _idle(space: Any) -> Any:
    """Return numbers of a valid action."""
    return getattr(space, "start", np.clip(0, getattr(space, "low", 0), getattr(space, "high", 0)))


def _check(name: str, env: Any) -> None:
    """Refuse a VectorEnv of two environments whose spaces are no arrays, or whose episodes depend on more
    than their own seeds.
    """
    for space in (env.single_observation_space, env.single_action_space):
        if space.shape is None:
            close(env)
            raise expected("--env", "a VectorEnv whose observations and actions are one array each", space)
    if env.metadata.get("autoreset_mode") == AutoresetMode.DISABLED:
        close(env)
        rule = "a VectorEnv that resets its environments"
        raise expected("--env", rule, name, "its autoreset_mode is Disabled")
    rule = "a VectorEnv whose reset takes a seed for each environment, and a reset_mask"
    both = np.ones(2, np.bool_)
    try:
        first = _reset(env, both, np.array([1, 2])).copy()
        second = _reset(env, both, np.array([2, 1])).copy()
        third = _reset(env, np.array([True, False]), np.array([1])).copy()
    except Exception as error:
        raise expected("--env", rule, name, one_line(error)) from error
    finally:
        close(env)
    check_observation(env.single_observation_space, first[0])
    if not (np.array_equal(first, second[::-1]) and np.array_equal(third, first[[0, 0]])):
        raise expected("--env", rule, name, "the episode of a seed differed in another environment")
