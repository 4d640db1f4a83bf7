"""The environments of an sb3 member: gymnasium's, which are stepped one by one, or envpool's."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from mpi_es import envs

_POOL = "envpool:"


class Episodes(Protocol):
    """One episode per seed, stepped together."""

    observations: NDArray[Any]  # (seeds, …) the latest

    def step(
        self, actions: NDArray[Any], running: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return rewards and ends (seeds,); those of episodes that do not run have no meaning."""
        ...

    def close(self) -> None:
        """Close the environments."""
        ...


def observation_space(name: str, options: Sequence[str]) -> gym.Space[Any]:
    """Return the observation space; refuse an environment that cannot be made."""
    if name.startswith(_POOL):
        from pbt.members.sb3 import envpool

        env = envpool.make(name.removeprefix(_POOL), options, [0])
    else:
        env, _ = envs.make(name, options)
    env.close()
    space: gym.Space[Any] = env.observation_space
    return space


def vectorised(name: str, options: Sequence[str], count: int) -> Any:
    """Return a vectorised environment for Stable-Baselines3."""
    if name.startswith(_POOL):
        from pbt.members.sb3.envpool import Pool

        return Pool(name.removeprefix(_POOL), options, count)
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([partial(single, name, options)] * count)


def episodes(name: str, options: Sequence[str], seeds: Sequence[int]) -> Episodes:
    """Return episodes after their reset."""
    if name.startswith(_POOL):
        from pbt.members.sb3.envpool import PoolEpisodes

        return PoolEpisodes(name.removeprefix(_POOL), options, seeds)
    return Singles(name, options, seeds)


def single(name: str, options: Sequence[str]) -> Any:
    """Return a gymnasium environment that ends its episodes at its step limit."""
    env, limit = envs.make(name, options)
    return gym.wrappers.TimeLimit(env, limit) if limit else env


def compile_one(name: str, options: Sequence[str]) -> None:
    """Step the environment once if it is a compiled one: its first step compiles."""
    if name.startswith(_POOL):
        return
    env, _ = envs.make(name, options)
    if getattr(env.unwrapped, "compiled", False):
        env.reset(seed=0)
        env.step(env.action_space.sample())
    env.close()


class Singles:
    """One episode per seed, in environments that are stepped one by one."""

    def __init__(self, name: str, options: Sequence[str], seeds: Sequence[int]) -> None:
        self.envs = [single(name, options) for _ in seeds]
        pairs = zip(self.envs, seeds, strict=True)
        self.observations = np.stack([env.reset(seed=seed)[0] for env, seed in pairs])

    def step(
        self, actions: NDArray[Any], running: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return rewards and ends; only running episodes are stepped."""
        rewards, ends = np.zeros(len(self.envs)), np.zeros(len(self.envs), bool)
        for place in np.flatnonzero(running).tolist():
            observation, reward, over, cut, _ = self.envs[place].step(actions[place])
            self.observations[place] = observation
            rewards[place], ends[place] = float(reward), over or cut
        return rewards, ends

    def close(self) -> None:
        """Close the environments."""
        for env in self.envs:
            env.close()
