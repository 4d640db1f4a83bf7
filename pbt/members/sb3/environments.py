"""The environments of an sb3 member: gymnasium's, stepped one by one, or those of envpool."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from mpi_es import envs

_POOL = "envpool:"


class Episodes(Protocol):
    """One episode of each of some seeds, side by side."""

    observations: NDArray[Any]  # (seeds, …) the latest

    def step(
        self, actions: NDArray[Any], running: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return rewards and ends (seeds,) of the episodes that run; what it says of the others is void."""
        ...

    def close(self) -> None:
        """End the environments."""
        ...


def observed(name: str, options: Sequence[str]) -> gym.Space[Any]:
    """Return what is observed; an environment that cannot be made is told here."""
    if name.startswith(_POOL):
        from pbt.members.sb3 import envpool

        env = envpool.make(name.removeprefix(_POOL), options, [0])
    else:
        env, _ = envs.make(name, options)
    env.close()
    space: gym.Space[Any] = env.observation_space
    return space


def vectorised(name: str, options: Sequence[str], count: int) -> Any:
    """Return environments as Stable-Baselines3 trains on them."""
    if name.startswith(_POOL):
        from pbt.members.sb3.envpool import Pool

        return Pool(name.removeprefix(_POOL), options, count)
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([partial(single, name, options)] * count)


def episodes(name: str, options: Sequence[str], seeds: Sequence[int]) -> Episodes:
    """Return episodes that have begun."""
    if name.startswith(_POOL):
        from pbt.members.sb3.envpool import PoolEpisodes

        return PoolEpisodes(name.removeprefix(_POOL), options, seeds)
    return Singles(name, options, seeds)


def single(name: str, options: Sequence[str]) -> Any:
    """Return an environment of gymnasium that ends its episodes at its limit."""
    env, limit = envs.make(name, options)
    return gym.wrappers.TimeLimit(env, limit) if limit else env


def compile_one(name: str, options: Sequence[str]) -> None:
    """Compile what the environment's first step would, if it is a compiled one."""
    if name.startswith(_POOL):
        return
    env, _ = envs.make(name, options)
    if getattr(env.unwrapped, "compiled", False):
        env.reset(seed=0)
        env.step(env.action_space.sample())
    env.close()


class Singles:
    """One episode of each seed, stepped one by one."""

    def __init__(self, name: str, options: Sequence[str], seeds: Sequence[int]) -> None:
        self.envs = [single(name, options) for _ in seeds]
        pairs = zip(self.envs, seeds, strict=True)
        self.observations = np.stack([env.reset(seed=seed)[0] for env, seed in pairs])

    def step(
        self, actions: NDArray[Any], running: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return rewards and ends; only those that run are stepped."""
        rewards, ends = np.zeros(len(self.envs)), np.zeros(len(self.envs), bool)
        for place in np.flatnonzero(running).tolist():
            observation, reward, over, cut, _ = self.envs[place].step(actions[place])
            self.observations[place] = observation
            rewards[place], ends[place] = float(reward), over or cut
        return rewards, ends

    def close(self) -> None:
        """End the environments."""
        for env in self.envs:
            env.close()
