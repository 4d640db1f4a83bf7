"""envpool's environments, stepped in compiled code.

Their seeds are given at construction, one for each environment, and `reset` takes none: so every group of
episodes gets its own pool. Making a pool of 64 takes some milliseconds, with MuJoCo a tenth of a second.
"""

import difflib
import importlib.util
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.config.user_objects import parsed
from mpi_es.envs.lockstep.base import Places
from mpi_es.errors import UserError, expected, one_line
from mpi_es.extras import needs

PREFIX = "envpool:"
Make = Callable[[Sequence[int]], Any]  # seeds -> a pool


def maker(name: str, options: Sequence[str]) -> Make:
    """Return the function that makes envpool's environments of this name, one for each seed."""
    if not importlib.util.find_spec("envpool"):
        raise UserError(f"--env: {PREFIX}{name} {needs('envpool')}")
    import envpool

    known = envpool.list_all_envs()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        raise expected("--env", "an id of envpool", name, f"did you mean {near[0]!r}?" if near else "")
    return partial(_make, name, parsed(options, "--env-options"))


def _make(name: str, options: Mapping[str, Any], seeds: Sequence[int]) -> Any:
    import envpool

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # gymnasium warns of the precision of envpool's bounds
            # One thread: a rank has one core.
            pool = envpool.make(
                name, env_type="gymnasium", num_envs=len(seeds), seed=list(seeds), num_threads=1, **options
            )
            _ = pool.observation_space  # makes the space, which envpool does when it is first read
            return pool
    except Exception as error:
        raise UserError(f"--env: {PREFIX}{name} cannot be made: {one_line(error)}") from error


def cast(actions: NDArray[Any], space: spaces.Space[Any]) -> NDArray[Any]:
    """Return actions in the dtype that envpool requires."""
    return actions.astype(np.int32 if isinstance(space, spaces.Discrete) else space.dtype)


@dataclass
class _Pool:
    """Environments that were made together, and how many of their episodes are running."""

    envs: Any
    first: int  # place of the first
    running: int


class EnvPool:
    """Pools of environments; those whose episodes are over are no longer stepped."""

    steps_together = True

    def __init__(self, name: str, options: Sequence[str]) -> None:
        self._make = maker(name, options)
        one = self._make([0])
        self.observation_space, self.action_space = one.observation_space, one.action_space
        self.limit = int(getattr(one.spec.config, "max_episode_steps", 0))
        one.close()
        self._pools: list[_Pool] = []
        self._next = 0  # place

    def begin(self, seeds: Sequence[int]) -> tuple[Places, NDArray[Any]]:
        """Make a pool with an episode for each seed."""
        envs = self._make(seeds)
        places = np.arange(self._next, self._next + len(seeds))
        self._pools.append(_Pool(envs, self._next, len(seeds)))
        self._next += len(seeds)
        return places, np.array(envs.reset()[0])

    def step(
        self, places: Places, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Step the environments at these places, pool by pool."""
        k, space = len(places), self.observation_space
        observations = np.empty((k, *space.shape), space.dtype)
        rewards, ended = np.empty(k), np.empty(k, np.bool_)
        actions = cast(actions, self.action_space)
        for pool, rows in self._by_pool(places):
            ids = (places[rows] - pool.first).astype(np.int32)
            step = pool.envs.step(actions[rows], ids)
            observations[rows], rewards[rows] = step[0], step[1]
            ended[rows] = step[2] | step[3]
        return observations, rewards, ended

    def end(self, places: Places) -> None:
        """Close the pools in which all episodes are over."""
        for pool, rows in self._by_pool(places):
            pool.running -= len(rows)
            if not pool.running:
                pool.envs.close()
        self._pools = [pool for pool in self._pools if pool.running]

    def clear(self) -> None:
        """Close all pools."""
        for pool in self._pools:
            pool.envs.close()
        self._pools = []

    def compile(self) -> None:
        """Do nothing: envpool comes compiled."""

    def close(self) -> None:
        """Close all pools."""
        self.clear()

    def _by_pool(self, places: Places) -> list[tuple[_Pool, NDArray[np.int64]]]:
        """Return each pool that has some of the places, with their rows in the order of the places."""
        owners = np.searchsorted([pool.first for pool in self._pools], places, side="right") - 1
        order = np.argsort(places)
        groups = np.split(order, np.searchsorted(owners[order], np.arange(1, len(self._pools))))
        return [(pool, rows) for pool, rows in zip(self._pools, groups, strict=True) if len(rows)]
