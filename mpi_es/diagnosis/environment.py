"""The doctor's check of an environment: does the episode seed determine the episode?"""

import hashlib
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.config.run import Config
from mpi_es.diagnosis import user_world
from mpi_es.diagnosis.job import AS_IN_TRAINING, Finding
from mpi_es.envs import open_batch
from mpi_es.envs.lockstep.base import EnvBatch, Places
from mpi_es.errors import RolloutError, UserError, one_line
from mpi_es.evaluation.build import make_policy
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from mpi_es.seeds import Stream, rng
from mpi_es.text import counted

_STEPS = 1000  # after which an episode is cut: an environment may never end one
_PARTS = ("observation", "reward", "end")
_REMEDY = "draw only from self.np_random, which reset(seed=...) seeds, and reset all state in reset"
_WORLD_REMEDY = "draw with mpi_es.worlds.numpy_random, call begin_stream in reset, and reset all state there"


class _StepDigests:
    """One environment that keeps a digest of the observation, the reward and the end of each step."""

    steps: list[tuple[bytes, float, bool]]  # of the last episode
    undefined = -1  # the first step whose observation was not finite
    steps_together = False

    def __init__(self, batch: EnvBatch) -> None:
        self.batch = batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.batch, name)

    def begin(self, seeds: Sequence[int]) -> tuple[Places, NDArray[Any]]:
        """Begin the episode."""
        places, observations = self.batch.begin(seeds)
        self.steps = []
        self._keep(observations, 0.0, False)
        return places, observations

    def step(
        self, places: Places, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Make a step and keep its digest."""
        observations, rewards, ended = self.batch.step(places, actions)
        self._keep(observations, float(rewards[0]), bool(ended[0]))
        return observations, rewards, ended

    def _keep(self, observations: NDArray[Any], reward: float, ended: bool) -> None:
        if self.undefined < 0 and not np.isfinite(observations).all():
            self.undefined = len(self.steps)
        self.steps.append((_digest(observations), reward, ended))


def _digest(observation: Any) -> bytes:
    numbers = np.ascontiguousarray(observation) + 0  # turns -0 into 0
    return hashlib.blake2b(numbers.tobytes(), digest_size=16).digest()


def repeats(config: Config) -> Finding:
    """Play an episode in a new environment, repeat it after another one, and return how they compare."""
    name, remedy = "environment", _REMEDY
    try:
        world = user_world.of_user(config.env, config.env_options)
        if world is not None:
            remedy = _WORLD_REMEDY
            if stray := user_world.stray(config.env, config.env_options):
                return Finding(name, "fail", f"{config.env}: {stray.seen}", stray.remedy)
        played, undefined = _played(config)
    except UserError as error:
        return Finding(name, "fail", str(error), AS_IN_TRAINING)
    except RolloutError as error:
        return Finding(
            name, "fail", str(error).splitlines()[0], f"fix {config.env}: this error would end a training"
        )
    except Exception as error:  # whatever a user's function may raise
        return Finding(name, "fail", one_line(error), f"fix {config.env}: this error would end a training")
    first, other, again = played
    if first != again:
        seen = f"{config.env}: {_difference(first, again)}; a run cannot be repeated"
        return Finding(name, "warn", seen, remedy)
    if undefined >= 0:
        seen = f"{config.env}: the observation of step {undefined} is not finite"
        return Finding(name, "warn", seen, "policies would compute with NaN or infinity, without a warning")
    waste = None if world is None else user_world.wasteful(world)
    if waste:
        return Finding(name, "warn", f"{config.env}: {waste.seen}", waste.remedy)
    seen = f"{config.env}: two episodes of one seed are equal, {counted(len(first) - 1, 'step')}"
    if first[0] == other[0]:
        seen += "; another seed begins with the same observation"
    return Finding(name, "ok", seen)


def _played(config: Config) -> tuple[list[list[Any]], int]:
    """Return the steps of three episodes: of a seed, of another seed and policy, of the first seed again.

    The number is that of the first step whose observation was not finite, -1 if all were.
    """
    policy = make_policy(config)
    batch: Any = _StepDigests(open_batch(config.env, config.env_options))
    parameters, played = policy.initial(config.seed), []
    others = rng(config.seed, Stream.SAMPLE).standard_normal(policy.dim)  # their actions leave other traces
    with closing(EnvRollout(policy, batch, 1, config.action_repeat)) as rollout:
        rollout.compile()  # first: what numba refuses is not an episode's failure
        for seed, candidate in ((0, parameters), (1, others), (0, parameters)):
            episode = Episode(0, 0, config.seed + seed, candidate)
            rollout.run(StaticSource([episode]), EpisodeRules(cap=_STEPS))
            played.append(batch.steps)
    return played, batch.undefined


def _difference(first: list[Any], again: list[Any]) -> str:
    """Return where two episodes of one seed first differ."""
    for number, (one, other) in enumerate(zip(first, again, strict=False)):
        parts = [part for part, a, b in zip(_PARTS, one, other, strict=True) if a != b]
        if parts:
            return f"two episodes of one seed differ in the {parts[0]} of step {number}"
    return f"two episodes of one seed have {len(first) - 1} and {len(again) - 1} steps"
