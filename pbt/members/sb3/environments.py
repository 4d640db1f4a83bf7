"""The environments of an sb3 member: gymnasium's, stepped one by one, or envpool's."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import gymnasium as gym

from mpi_es import envs
from mpi_es.envs.lockstep.envpool import PREFIX


def vectorised(name: str, options: Sequence[str], count: int) -> Any:
    """Return a vectorised environment for Stable-Baselines3."""
    if name.startswith(PREFIX):
        from pbt.members.sb3.envpool import Pool

        return Pool(name.removeprefix(PREFIX), options, count)
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([partial(single, name, options)] * count)


def single(name: str, options: Sequence[str]) -> Any:
    """Return a gymnasium environment that ends its episodes at its step limit."""
    env, limit = envs.make(name, options)
    return gym.wrappers.TimeLimit(env, limit) if limit else env
