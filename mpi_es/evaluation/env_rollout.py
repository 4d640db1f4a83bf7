"""Episodes in environments: several in lockstep, so that one call computes the actions of all networks."""

import traceback
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.lockstep.base import EnvBatch, EpisodeFailed
from mpi_es.errors import RolloutError, one_line
from mpi_es.evaluation.normalisation import normalise, of_episodes
from mpi_es.evaluation.rollout import (
    Episode,
    EpisodeRules,
    Results,
    Rollout,
    Source,
    columns,
    shortest,
    unpacked,
)
from mpi_es.policies.base import Policy
from mpi_es.seeds import Stream, rng
from mpi_es.text import counted

# If several episodes begin as fast as one, half of the width begins at a time: each pool of envpool costs a
# hand-over to its thread at each step, 0.1 to 0.2 ms.
_BEGIN_SHARE = 2
_DROP_SHARE = 4  # an idle row costs a forward pass; dropping idle rows costs a copy of the others


class EnvRollout(Rollout):
    """Runs episodes of a policy in up to `width` environments in lockstep.

    The return of an episode depends on its candidate and seed only, not on its neighbours.

    Args:
        action_repeat: steps of the environment that an action lasts; lengths, cap and limit count steps.
    """

    policy: Policy

    def __init__(self, policy: Policy, envs: EnvBatch, width: int, action_repeat: int = 1) -> None:
        self.policy, self.envs, self.width, self.action_repeat = policy, envs, width, action_repeat
        self.steps_together = envs.steps_together
        self.limit, self.spaces = envs.limit, (envs.observation_space, envs.action_space)
        self.unused = {"threads_per_rank": "since episodes do not run in compiled code"}
        space = envs.observation_space
        self.shape, self.dtype = space.shape or (), space.dtype
        self.size = int(np.prod(self.shape))

    def compile(self) -> None:
        """Compile the machine code of a compiled policy or environment now, by one step."""
        self.envs.compile()
        if self.policy.kernel is not None:
            weights = self.policy.unpack(np.zeros((1, self.policy.dim), np.float32))
            observation = np.full((1, *self.shape), getattr(self.spaces[0], "start", 0), self.dtype)
            try:
                self.policy.act(weights, observation, self.policy.initial_memory(1))
            except Exception as error:  # raised by a user's kernel
                told = f"the policy's first step: {one_line(error)}\n{traceback.format_exc()}"
                raise self.policy.mistake() or RolloutError(told) from error

    def run(self, source: Source, rules: EpisodeRules, width: int | None = None) -> Results:
        """Run all episodes that the source gives, and return their rows."""
        batch = _Batch(self, rules, min(width or self.width, self.width))
        try:
            with self.policy.one_thread():
                while batch.fill(source):
                    batch.step(source)
                    source.poll()
        finally:
            self.envs.clear()
        return np.concatenate([np.empty((0, columns(rules, self.size))), *batch.results])

    def close(self) -> None:
        """Close the environments."""
        self.envs.close()


class _Running(NamedTuple):
    """The running episodes: row i of every array belongs to one."""

    running: NDArray[np.bool_]  # false: the episode is over, and its row idle
    places: NDArray[np.int64]  # (k,) in the batch of environments
    totals: NDArray[np.float64]
    lengths: NDArray[np.int64]
    losing: NDArray[np.int64]  # successive actions with negative rewards
    observations: NDArray[Any]
    acts: NDArray[np.int64]  # number of collected observations
    firsts: NDArray[np.float64]  # first observation of each episode
    sums: NDArray[np.float64]  # (k, 2, size) of differences to it, and of their squares


class _Batch:
    """Episodes in lockstep.

    Idle rows are dropped, or given to other episodes, several at a time, since the policy then unpacks the
    parameters of all rows again, and since some environments begin several episodes as fast as one.
    """

    def __init__(self, rollout: EnvRollout, rules: EpisodeRules, width: int) -> None:
        self.envs, self.policy, self.rules, self.width = rollout.envs, rollout.policy, rules, width
        self.action_repeat = rollout.action_repeat
        self.limit = shortest(rollout.limit, rules.cap)
        self.episodes: list[Episode] = []
        self.noise: list[np.random.Generator] = []  # of the actions
        empty = np.empty((0, *rollout.shape), rollout.dtype)
        self.at = self._begun(np.zeros(0, np.int64), empty)
        self.memory = self.policy.initial_memory(0)
        self.weights: Any = None  # None: to be unpacked again
        self.results: list[Results] = []

    def _begun(self, places: NDArray[np.int64], observations: NDArray[Any]) -> _Running:
        """Return the rows of episodes that begin."""
        k = len(places)
        firsts = _flat(observations) if self.rules.collect else np.zeros((k, 0))
        return _Running(
            running=np.ones(k, np.bool_),
            places=places,
            totals=np.zeros(k),
            lengths=np.zeros(k, np.int64),
            losing=np.zeros(k, np.int64),
            observations=observations,
            acts=np.zeros(k, np.int64),
            firsts=firsts,
            sums=np.zeros((k, 2, firsts.shape[1])),
        )

    def fill(self, source: Source) -> int:
        """Begin episodes where there is room and work; return how many are running."""
        running = int(self.at.running.sum())
        free = self.width - running
        few = self.width // _BEGIN_SHARE if self.envs.steps_together else 1
        fresh: list[Episode] = []
        while len(fresh) < free and (not running or free >= few):
            episode = source.take(block=not (running or fresh))
            if episode is None:
                break
            fresh.append(episode)
        if fresh or running < len(self.at.running) * (1 - 1 / _DROP_SHARE):
            self._drop_idle()
        if fresh:
            self._begin(fresh)
        return running + len(fresh)

    def step(self, source: Source) -> None:
        """Let every running episode act once."""
        if self.weights is None:
            self.weights = unpacked(self.policy, [episode.parameters for episode in self.episodes])
        rows = np.flatnonzero(self.at.running)
        actions = self._act(rows)
        rewards, ended = self._step_envs(rows, actions[rows])  # a copy, which an environment may change
        for _ in range(self.action_repeat - 1):
            going = np.flatnonzero(~ended)
            if not len(going):
                break
            more, ended[going] = self._step_envs(rows[going], actions[rows[going]])
            rewards[going] += more
        self.at.totals[rows] += np.clip(rewards, *self.rules.clip) if self.rules.clip else rewards
        self.at.losing[rows] = np.where(rewards < 0, self.at.losing[rows] + 1, 0)
        if self.rules.early_stop:
            ended |= self.at.losing[rows] > self.rules.early_stop
        if ended.any():
            self._end(rows[ended], source)

    def _step_envs(
        self, rows: NDArray[np.int64], actions: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Step the environments of these rows; return their rewards, and which episodes are over."""
        try:
            observations, rewards, ended = self.envs.step(self.at.places[rows], actions)
        except BaseException as error:
            raise self._failure(rows, error) from error
        # No policy need answer an episode's last observation: its idle row keeps the one before.
        self.at.observations[rows[~ended]] = observations[~ended]
        self.at.lengths[rows] += 1
        if self.limit:
            ended |= self.at.lengths[rows] == self.limit
        return rewards, ended

    def _act(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the actions (k, …) of all rows; those of idle ones mean nothing."""
        observations = self.at.observations
        if self.rules.collect:
            differences = _flat(observations[rows]) - self.at.firsts[rows]
            self.at.acts[rows] += 1
            self.at.sums[rows, 0] += differences
            self.at.sums[rows, 1] += differences * differences
        if self.rules.normalisation is not None:
            observations = normalise(observations, self.rules.normalisation)
        try:
            actions, self.memory = self.policy.act(self.weights, observations, self.memory)
        except BaseException as error:  # a user's module may call exit
            raise self._failure(self._failing(rows, observations), error) from error
        if self.rules.action_noise:
            actions = np.stack([*map(self._disturbed, self.noise, actions)])
        return actions

    def _failing(self, rows: NDArray[np.int64], observations: NDArray[Any]) -> NDArray[np.int64]:
        """Return the first row for which the policy also raises on its own; all rows if there is none."""
        for row in rows.tolist():
            one = slice(row, row + 1)
            memory = None if self.memory is None else self.memory[one]
            weights = unpacked(self.policy, [self.episodes[row].parameters])
            try:
                self.policy.act(weights, observations[one], memory)
            except BaseException:
                return np.array([row])
        return rows

    def _disturbed(self, generator: np.random.Generator, action: NDArray[Any]) -> NDArray[Any]:
        space = self.envs.action_space
        noise = self.rules.action_noise * generator.standard_normal(action.shape)
        return np.clip(action + noise, space.low, space.high).astype(space.dtype)

    def _drop_idle(self) -> None:
        """Drop the rows whose episodes are over."""
        kept = np.flatnonzero(self.at.running)
        if len(kept) == len(self.at.running):
            return
        self.episodes = [self.episodes[row] for row in kept.tolist()]
        if self.noise:
            self.noise = [self.noise[row] for row in kept.tolist()]
        self.at = _Running._make(array[kept] for array in self.at)
        if self.memory is not None:
            self.memory = self.memory[kept]
        self.weights = None

    def _begin(self, fresh: list[Episode]) -> None:
        """Append a row for each of these episodes."""
        old = len(self.episodes)
        self.episodes += fresh
        try:
            places, observations = self.envs.begin([episode.seed for episode in fresh])
        except RolloutError:
            raise
        except BaseException as error:
            raise self._failure(np.arange(old, len(self.episodes)), error) from error
        names = [(one.seed, self.rules.first_candidate + one.candidate) for one in fresh]
        if self.rules.action_noise:
            self.noise += [rng(seed, Stream.ACTION, candidate) for seed, candidate in names]
        memories = [self.policy.start(*name) for name in names]
        if self.memory is not None:
            self.memory = np.concatenate([self.memory, *(one for one in memories if one is not None)])
        begun = self._begun(places, observations)
        pairs: Any = zip(self.at, begun, strict=True)
        self.at = _Running._make(np.concatenate(pair) for pair in pairs)
        self.weights = None

    def _end(self, rows: NDArray[np.int64], source: Source) -> None:
        """Record the results of the episodes in these rows, which are over."""
        self.envs.end(self.at.places[rows])
        self.at.running[rows] = False
        if self.memory is not None:  # an idle row acts on, but for no more steps than an episode has
            self.memory[rows] = self.policy.initial_memory(len(rows))
        seen = np.empty((len(rows), 0))
        if self.rules.collect:
            seen = of_episodes(self.at.acts[rows], self.at.firsts[rows], self.at.sums[rows])
        for row, own in zip(rows.tolist(), seen, strict=True):
            episode, length = self.episodes[row], int(self.at.lengths[row])
            place = self._place(row)
            if not np.isfinite(self.at.totals[row]):
                raise RolloutError(f"{place}: expected a finite return, got {self.at.totals[row]}")
            if not np.isfinite(own).all():
                raise RolloutError(f"{place}: expected finite observations, since they are normalised")
            head = [episode.episode_id, self.at.totals[row], length]
            self.results.append(np.concatenate([head, own])[None])
            source.done(episode.episode_id, length)

    def _place(self, row: int) -> str:
        episode, lengths = self.episodes[row], self.at.lengths
        step = lengths[row] if row < len(lengths) else 0  # in an episode that could not begin
        return f"candidate {episode.candidate}, episode seed {episode.seed}, step {step}"

    def _failure(self, rows: NDArray[np.int64], error: BaseException) -> RolloutError:
        """Return the error of the episode that failed; of all in these rows if it is not known which did."""
        cause = error
        if isinstance(error, EpisodeFailed):
            rows, cause = rows[[error.index]], error.__cause__ or error
        many = f"one of {counted(len(rows), 'episode')}, which are stepped together"
        place = self._place(int(rows[0])) if len(rows) == 1 else many
        text = "".join(traceback.format_exception(cause))
        return RolloutError(f"{place}: {one_line(cause)}\n{text}")


def _flat(observations: NDArray[Any]) -> NDArray[np.float64]:
    """Return observations as rows of numbers."""
    return observations.reshape(len(observations), prod(observations.shape[1:])).astype(np.float64)
