"""Episodes in this process: several side by side, so that one call answers for the networks of all."""

import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.errors import RolloutError, one_line
from mpi_es.evaluation.normalisation import normalise
from mpi_es.policies.base import Policy
from mpi_es.seeds import Stream, rng

Rows = NDArray[np.float64]  # an episode a row: unit, return, length, then the sums of its observations
MakeEnv = Callable[[], tuple[Any, int]]


@dataclass(frozen=True)
class Episode:
    """A unit of work: one candidate on one episode seed."""

    unit: int
    candidate: int
    seed: int
    parameters: Candidate | Vector


@dataclass(frozen=True)
class Terms:
    """What all episodes of one evaluation have in common; it travels to all ranks."""

    cap: int = 0  # steps; 0 is no cap
    normalisation: NDArray[np.float32] | None = None  # (2, size) of the observations' normalisation
    action_noise: float = 0.0
    collect: bool = False  # sum up the observations
    early_stop: int = 0  # steps in a row of negative reward that an episode survives; 0 is no such rule
    held_out: bool = False  # in the held-out environment


class Source(Protocol):
    """Where a process gets its episodes from."""

    def take(self, block: bool) -> Episode | None:
        """Return the next episode, or None: there is none (now, unless `block`: none at all)."""
        ...

    def done(self, unit: int, length: int) -> None:
        """Take note of how many steps an episode took that is over."""
        ...

    def poll(self) -> None:
        """Do what cannot wait until the episodes are over; raise Stopped to end them."""
        ...


class AnyRollout(Protocol):
    """Plays episodes: in environments, in compiled code, or as calls of a function."""

    policy: Any
    parameter_precision: str  # of the candidates that it takes, as numpy names it
    exact: bool  # what an episode returns does not depend on its seed
    size: int  # of an observation
    width: int  # episodes side by side, at most
    limit: int  # steps of an episode; 0 is none

    def compile(self) -> None:
        """Have all machine code ready."""
        ...

    def whole(self, cap: int, normalisation: NDArray[np.float32] | None) -> Terms:
        """Return the terms of episodes that are undisturbed, and whole where the environment ends them.

        Args:
            cap: the steps of an episode whose environment names no limit and might never end.
        """
        ...

    def run(self, source: Source, terms: Terms, width: int | None = None) -> Rows:
        """Return the rows of all episodes that the source gives."""
        ...


class Rollout:
    """Runs episodes of a policy in up to `width` environments side by side.

    What an episode returns depends on its candidate and seed only, not on its neighbours.
    """

    parameter_precision = "f4"
    exact = False  # an episode depends on its seed

    def __init__(self, policy: Policy, make_env: MakeEnv, width: int) -> None:
        self.policy = policy
        self.make_env = make_env
        env, self.limit = make_env()
        self.envs = [env]
        self.width = width
        space = env.observation_space
        self.shape, self.dtype = space.shape or (), space.dtype
        self.size = int(np.prod(self.shape))
        self.actions = env.action_space

    def compile(self) -> None:
        """Have the machine code ready of a policy and an environment that are compiled: one step of it."""
        env = self.envs[0]
        if getattr(env, "compiled", False):
            env.reset(seed=0)
            env.step(env.action_space.sample())
        if getattr(self.policy, "compiled", False):
            weights = self.policy.unpack(np.zeros((1, self.policy.dim), np.float32))
            observation = np.zeros((1, *self.shape), self.dtype)
            self.policy.act(weights, observation, self.policy.initial_memory(1))

    def whole(self, cap: int, normalisation: NDArray[np.float32] | None) -> Terms:
        """Return the terms of episodes that are undisturbed."""
        return Terms(0 if self.limit else cap, normalisation)

    def run(self, source: Source, terms: Terms, width: int | None = None) -> Rows:
        """Return the rows of all episodes that the source gives."""
        batch = _Batch(self, terms)
        while batch.fill(source, min(width or self.width, self.width)):
            batch.step(source)
            source.poll()
        columns = 3 + (2 * self.size if terms.collect else 0)
        return np.array(batch.rows, np.float64).reshape(-1, columns)

    def env(self, slot: int) -> Any:
        """Return the environment of a slot, made when it is first used."""
        while len(self.envs) <= slot:
            self.envs.append(self.make_env()[0])
        return self.envs[slot]


@dataclass
class _Slot:
    """An episode under way."""

    episode: Episode
    noise: np.random.Generator | None  # of its actions
    total: float = 0.0
    length: int = 0
    losing: int = 0  # steps in a row of negative reward


class _Batch:
    """The episodes that are under way: row i of every array belongs to slots[i] and envs[i]."""

    def __init__(self, rollout: Rollout, terms: Terms) -> None:
        self.rollout, self.policy, self.terms = rollout, rollout.policy, terms
        caps = [cap for cap in (rollout.limit, terms.cap) if cap > 0]
        self.cap = min(caps, default=0)
        self.early_stop = terms.early_stop or math.inf
        self.slots: list[_Slot] = []
        width = rollout.width
        self.parameters = np.empty((width, self.policy.dim), np.float32)
        self.observations = np.empty((width, *rollout.shape), rollout.dtype)
        self.sums = np.zeros((width, 2, rollout.size if terms.collect else 0))
        self.memory = self.policy.initial_memory(0)
        self.weights: Any = None  # unpacked anew where it is None
        self.rows: list[NDArray[np.float64]] = []

    def fill(self, source: Source, width: int) -> int:
        """Start episodes while there are free slots and work; return how many are under way."""
        while len(self.slots) < width:
            episode = source.take(block=not self.slots)
            if episode is None:
                break
            self._begin(len(self.slots), episode)
        return len(self.slots)

    def step(self, source: Source) -> None:
        """Make one step of every episode; those that end make room for the source's next."""
        k = len(self.slots)
        if self.weights is None:
            self.weights = self.policy.unpack(self.parameters[:k])
        actions = self._act(k)
        ended = []
        for i, slot in enumerate(self.slots):
            try:
                observation, reward, terminated, truncated, _ = self.rollout.envs[i].step(actions[i])
                self.observations[i] = observation
                slot.total += float(reward)
            except BaseException as error:  # a simulator may call exit, or be in Rust
                raise _failure(slot, error) from error
            slot.length += 1
            slot.losing = slot.losing + 1 if reward < 0 else 0
            if terminated or truncated or slot.length == self.cap or slot.losing > self.early_stop:
                ended.append(i)
        for i in reversed(ended):  # from the end, so that the slots that close up are those already seen
            self._end(i)
            source.done(self.slots[i].episode.unit, self.slots[i].length)
            episode = source.take(block=False)
            if episode is None:
                self._close(i)
            else:
                self._begin(i, episode)

    def _act(self, k: int) -> Any:
        """Return what each environment is to be stepped with."""
        observations = self.observations[:k]
        if self.terms.collect:
            flat = observations.reshape(k, -1).astype(np.float64)
            self.sums[:k, 0] += flat
            self.sums[:k, 1] += flat * flat
        if self.terms.normalisation is not None:
            observations = normalise(observations, self.terms.normalisation)
        try:
            actions, self.memory = self.policy.act(self.weights, observations, self.memory)
        except BaseException as error:  # a simulator may call exit, or be in Rust
            raise _failure(self.slots[0], error) from error
        if self.terms.action_noise:
            actions = np.stack([self._disturbed(i, actions[i]) for i in range(k)])
        # A Python integer spares the environment a conversion at each comparison.
        return actions.tolist() if actions.ndim == 1 and actions.dtype.kind == "i" else actions

    def _disturbed(self, i: int, action: NDArray[Any]) -> NDArray[Any]:
        space, generator = self.rollout.actions, self.slots[i].noise
        assert generator is not None
        noise = self.terms.action_noise * generator.standard_normal(action.shape)
        return np.clip(action + noise, space.low, space.high).astype(space.dtype)

    def _begin(self, i: int, episode: Episode) -> None:
        """Start an episode in slot i, which is free or the first beyond those under way."""
        noisy = self.terms.action_noise > 0
        slot = _Slot(episode, rng(episode.seed, Stream.ACTION, episode.candidate) if noisy else None)
        fresh = self.policy.start(episode.seed, episode.candidate)
        if i == len(self.slots):
            self.slots.append(slot)
            if fresh is not None and self.memory is not None:
                self.memory = np.concatenate([self.memory, fresh])
        else:
            self.slots[i] = slot
            if fresh is not None and self.memory is not None:
                self.memory[i] = fresh[0]
        self.parameters[i] = episode.parameters
        self.sums[i] = 0
        self.weights = None
        try:
            self.observations[i] = self.rollout.env(i).reset(seed=episode.seed)[0]
        except BaseException as error:  # a simulator may call exit, or be in Rust
            raise _failure(slot, error) from error

    def _end(self, i: int) -> None:
        """Note what episode i came to."""
        slot = self.slots[i]
        if not math.isfinite(slot.total):
            raise RolloutError(f"{_place(slot)}: expected a finite return, got {slot.total}")
        if not np.isfinite(self.sums[i]).all():
            raise RolloutError(f"{_place(slot)}: expected finite observations, which --obs-norm adds up")
        head = [slot.episode.unit, slot.total, slot.length]
        self.rows.append(np.concatenate([head, self.sums[i].ravel()]))

    def _close(self, i: int) -> None:
        """Give slot i to the last episode and drop the last slot."""
        last = len(self.slots) - 1
        envs = self.rollout.envs
        envs[i], envs[last] = envs[last], envs[i]
        self.slots[i] = self.slots[last]
        self.slots.pop()
        for array in (self.parameters, self.observations, self.sums):
            array[i] = array[last]
        if self.memory is not None:
            self.memory[i] = self.memory[last]
            self.memory = self.memory[:last]
        self.weights = None


def _place(slot: _Slot) -> str:
    return f"candidate {slot.episode.candidate}, episode seed {slot.episode.seed}, step {slot.length}"


def _failure(slot: _Slot, error: BaseException) -> RolloutError:
    return RolloutError(f"{_place(slot)}: {one_line(error)}\n{traceback.format_exc()}")
