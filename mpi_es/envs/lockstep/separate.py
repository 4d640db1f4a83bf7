"""Environments of gymnasium or a user, stepped one after another."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.lockstep.base import EpisodeFailed, Places, check_observation, close
from mpi_es.errors import RolloutError

MakeEnv = Callable[[], tuple[Any, int]]  # the environment, and its step limit


class SeparateEnvs:
    """As many environments as episodes run at once, each made when it is first needed."""

    steps_together = False

    def __init__(self, make_env: MakeEnv) -> None:
        self._make_env = make_env
        env, self.limit = make_env()
        self.envs = [env]
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self._free = [0]
        self._stepped: set[int] = set()  # places whose first step was checked

    def begin(self, seeds: Sequence[int]) -> tuple[Places, NDArray[Any]]:
        """Reset an environment for each seed."""
        places = np.array([self._take() for _ in seeds], np.int64)
        observations = self._buffer(len(seeds))
        for i, (place, seed) in enumerate(zip(places.tolist(), seeds, strict=True)):
            try:
                first = self.envs[place].reset(seed=seed)[0]
                check_observation(self.observation_space, np.asarray(first))
                observations[i] = first
            except BaseException as error:  # a simulator may call exit, or panic in Rust
                raise EpisodeFailed(i) from error
        return places, observations

    def step(
        self, places: Places, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Step the environments in the order of the places."""
        k = len(places)
        observations, rewards, over = self._buffer(k), np.empty(k), np.empty(k, np.bool_)
        # A Python integer spares the environment a conversion at each comparison.
        listed: Any = actions.tolist() if actions.ndim == 1 and actions.dtype.kind == "i" else actions
        for i, place in enumerate(places.tolist()):
            try:
                observation, reward, terminated, truncated, _ = self.envs[place].step(listed[i])
                if place not in self._stepped:
                    check_observation(self.observation_space, np.asarray(observation))
                    self._stepped.add(place)
                observations[i] = observation
                rewards[i] = float(reward)
                over[i] = terminated or truncated
            except BaseException as error:  # a simulator may call exit, or panic in Rust
                raise EpisodeFailed(i) from error
        return observations, rewards, over

    def end(self, places: Places) -> None:
        """Keep the environments for other episodes."""
        self._free += places.tolist()

    def clear(self) -> None:
        """Keep all environments for other episodes."""
        self._free = [*reversed(range(len(self.envs)))]

    def compile(self) -> None:
        """Make one step of an environment that is compiled."""
        env = self.envs[0]
        if getattr(env, "compiled", False):
            env.reset(seed=0)
            env.step(env.action_space.sample())

    def close(self) -> None:
        """Close the environments."""
        close(*self.envs)

    def _take(self) -> int:
        """Return the place of an environment that is free, or of a new one."""
        if not self._free:
            made = self._make_env()[0]
            if any(made.unwrapped is env.unwrapped for env in self.envs):
                rule = "a function that makes a new environment in each call"
                raise RolloutError(f"env: expected {rule}, got the same one again")
            self._free.append(len(self.envs))
            self.envs.append(made)
        return self._free.pop()

    def _buffer(self, k: int) -> NDArray[Any]:
        space = self.observation_space
        return np.empty((k, *(space.shape or ())), space.dtype)
