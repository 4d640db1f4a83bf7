"""The doctor's check of an environment: does the episode seed determine the episode?"""

import hashlib
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.config.run import Config
from mpi_es.diagnosis.job import Finding
from mpi_es.envs import is_vectorised, make, open_batch
from mpi_es.envs.lockstep.base import EnvBatch, Places
from mpi_es.errors import RolloutError, UserError, one_line
from mpi_es.evaluation.build import make_policy
from mpi_es.evaluation.env_rollout import Rollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from mpi_es.text import counted

_STEPS = 1000  # after which an episode is cut: an environment may never end one
_MANY = 100  # environments, far more than the arguments of a call
_PARTS = ("observation", "reward", "end")
_REMEDY = "draw from self.np_random only, which reset(seed=...) seeds, and set all state anew in reset"


class _StepDigests:
    """One environment that keeps a digest of the observation, the reward and the end of each step."""

    steps: list[tuple[bytes, float, bool]]  # of the last episode
    begins_together = False

    def __init__(self, batch: EnvBatch) -> None:
        self.batch = batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.batch, name)

    def begin(self, seeds: Sequence[int]) -> tuple[Places, NDArray[Any]]:
        """Begin the episode."""
        places, observations = self.batch.begin(seeds)
        self.steps = [(_digest(observations), 0.0, False)]
        return places, observations

    def step(
        self, places: Places, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Make a step and keep its digest."""
        observations, rewards, ended = self.batch.step(places, actions)
        self.steps.append((_digest(observations), float(rewards[0]), bool(ended[0])))
        return observations, rewards, ended


def _digest(observation: Any) -> bytes:
    numbers = np.ascontiguousarray(observation) + 0  # which makes 0 of -0
    return hashlib.blake2b(numbers.tobytes(), digest_size=16).digest()


def repeats(config: Config) -> Finding:
    """Play an episode in a new environment, then again after another one, and compare them."""
    name = "environment"
    try:
        policy = make_policy(config)
        batch: Any = _StepDigests(open_batch(config.env, config.env_options))
        parameters, played = policy.initial(config.seed), []
        with closing(Rollout(policy, batch, 1, config.action_repeat)) as rollout:
            for seed in (config.seed, config.seed + 1, config.seed):
                rollout.run(StaticSource([Episode(0, 0, seed, parameters)]), EpisodeRules(cap=_STEPS))
                played.append(batch.steps)
    except UserError as error:
        remedy = "give --env, --env-options and --policy as the training has them"
        return Finding(name, "fail", str(error), remedy)
    except RolloutError as error:
        return Finding(
            name, "fail", str(error).splitlines()[0], f"fix {config.env}, or a training ends there"
        )
    except Exception as error:  # whatever a user's function may raise
        return Finding(name, "fail", one_line(error), f"fix {config.env}, or a training ends there")
    first, _, again = played
    if first == again:
        seen = f"{config.env}: two episodes of one seed are equal, {counted(len(first) - 1, 'step')}"
        count = _allocations(config)
        if count:
            seen = f"{config.env}: a step makes {counted(count, 'array')}, which costs time"
            return Finding(name, "warn", seen, "keep the arrays in fresh, and write to them")
        return Finding(name, "ok", seen)
    return Finding(
        name, "warn", f"{config.env}: {_difference(first, again)}; a run cannot be repeated", _REMEDY
    )


def _difference(first: list[Any], again: list[Any]) -> str:
    """Return where two episodes of one seed part."""
    for number, (one, other) in enumerate(zip(first, again, strict=False)):
        parts = [part for part, a, b in zip(_PARTS, one, other, strict=True) if a != b]
        if parts:
            return f"two episodes of one seed differ in the {parts[0]} of step {number}"
    return f"two episodes of one seed have {len(first) - 1} and {len(again) - 1} steps"


def _allocations(config: Config) -> int:
    """Return how many arrays a step of a user's world makes; 0 for other environments."""
    if is_vectorised(config.env):
        return 0
    with closing(make(config.env, config.env_options)[0]) as env:
        world: Any = getattr(env, "world", None) if getattr(env, "compiled", False) else None
    if not hasattr(world, "fresh"):
        return 0
    from numba.core.runtime import _nrt_python, rtsys

    from mpi_es.worlds.vector_env import WorldVectorEnv

    _nrt_python.memsys_enable_stats()
    vector = WorldVectorEnv(world, num_envs=_MANY)
    vector.reset(seed=0)
    before = rtsys.get_allocation_stats().alloc
    vector.step(np.zeros_like(vector.action_space.sample()))
    # numba makes some for the arguments of the call.
    return int(rtsys.get_allocation_stats().alloc - before) // _MANY
