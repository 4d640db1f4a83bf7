"""Episodes of a world and a policy with a kernel, run wholly in compiled code by threads of this process.

Meanwhile the main thread answers other ranks and watches for signals, as the ordinary rollout does between
steps.
"""

import math
import time
import traceback
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mpi_es.arrays import Vector
from mpi_es.config.run import Config
from mpi_es.envs.lockstep.base import EnvBatch
from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.errors import RolloutError, UserError, one_line
from mpi_es.evaluation.compiled.episode import (
    Batch,
    CompiledRules,
    Driver,
    allocate,
    play_of,
    vector_size,
)
from mpi_es.evaluation.compiled.lanes import LANES, allocate_lanes, play_lanes_of
from mpi_es.evaluation.normalisation import of_episodes
from mpi_es.evaluation.rollout import Episode, EpisodeRules, Results, Rollout, Source, columns, shortest
from mpi_es.policies.kernels.choices import choice_for
from mpi_es.seeds import Stream, rng
from mpi_es.text import counted
from mpi_es.worlds.env import WorldEnv
from mpi_es.worlds.refused import explained
from mpi_es.worlds.world import has_lanes, new_state

_POLL = 1e-3  # seconds between two polls of other ranks and signals
# Seconds of episodes that a thread gets at once: enough that the hand-over, 0.1 ms, is cheap, and so few
# that other ranks still find work.
_AT_ONCE = 5e-3
_MOST = 64  # episodes that a thread gets at once
# While the last episodes of a batch run, most lanes are empty: so few batches, and large ones.
_MOST_IN_LANES = 4 * LANES


def can_compile(config: Config, policy: Any, batch: EnvBatch) -> bool:
    """Return whether a policy's episodes in an environment can run in compiled code."""
    if policy.kernel is None or not (isinstance(batch, SeparateEnvs) and _is_its_world(batch.envs[0])):
        return False
    # The noise of a whole episode is drawn before it begins.
    drawn = batch.limit > 0 or not config.action_noise
    return drawn and choice_for(batch.action_space, config.policy.output, policy.squashed) is not None


def _is_its_world(env: Any) -> bool:
    """Return whether an environment does what its world does; a user's subclass may do something else."""
    if not isinstance(env, WorldEnv):
        return False
    kind, world = type(env), env.world
    same_spaces = (env.observation_space, env.action_space) == (world.observation_space, world.action_space)
    return kind.step is WorldEnv.step and kind.reset is WorldEnv.reset and same_spaces


@dataclass
class _Thread:
    """A thread's buffers, and the episodes that it runs."""

    state: Any  # of the world, or Lanes of states
    driver: Driver
    episodes: list[Episode] = field(default_factory=list)
    batch: Any = None
    result: "Future[float] | None" = None


class CompiledRollout(Rollout):
    """Runs episodes of a policy in a world, in each thread one after another, or side by side in lanes.

    Returns and lengths are bit-identical to those of the ordinary rollout.

    Args:
        batch: the environment of the world.
    """

    def __init__(self, config: Config, policy: Any, batch: Any) -> None:
        world, threads = batch.envs[0].world, config.threads_per_rank
        self._world = world
        observations, actions = batch.observation_space, batch.action_space
        self.policy, self.limit, self.repeat = policy, batch.limit, config.action_repeat
        self.spaces, self.size = (observations, actions), vector_size(observations)
        self.unused = {"envs_per_rank": "since whole episodes run in compiled code"}
        self.steps_together = has_lanes(world)
        self.width = threads * (_MOST_IN_LANES if self.steps_together else _MOST)
        choose = choice_for(actions, config.policy.output, policy.squashed)
        self._play = (play_lanes_of if self.steps_together else play_of)(world, policy, choose)
        drivers = [allocate(policy, observations, actions) for _ in range(threads)]
        self.threads = [
            _Thread(allocate_lanes(world, driver) if self.steps_together else new_state(world), driver)
            for driver in drivers
        ]
        self._seconds = _AT_ONCE  # that an episode takes: an estimate
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="episodes")

    def compile(self) -> None:
        """Load the machine code from the cache, or compile it now."""
        thread, rules = self.threads[0], EpisodeRules(cap=1)
        thread.episodes = [Episode(0, 0, 0, np.zeros(self.policy.dim, np.float32))]
        try:
            with explained(self._world):
                self._run(thread, rules)
        except UserError:
            raise
        except Exception as error:  # raised by a user's world or kernel
            raise self.policy.mistake() or self._failure(thread, error) from error

    def run(self, source: Source, rules: EpisodeRules, width: int | None = None) -> Results:
        """Run all episodes that the source gives, and return their rows."""
        width = min(width or self.width, self.width)
        threads = self.threads[:width]
        rows = [np.empty((0, columns(rules, self.size)))]
        try:
            while self._start(threads, source, rules, -(-width // len(threads))):
                results = [thread.result for thread in threads if thread.result is not None]
                wait(results, _POLL, FIRST_COMPLETED)
                rows += self._finished(threads, source, rules)
                source.poll()
        finally:
            self._abandon()
        return np.concatenate(rows)

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()

    def _start(self, threads: list[_Thread], source: Source, rules: EpisodeRules, most: int) -> bool:
        """Give episodes to each idle thread; return whether any thread is busy."""
        count = most if self.steps_together else max(1, min(most, int(_AT_ONCE / self._seconds)))
        for thread in threads:
            if thread.result is not None:
                continue
            busy = any(other.result is not None for other in threads)
            thread.episodes, thread.batch = [], None
            while len(thread.episodes) < count:
                episode = source.take(block=not (busy or thread.episodes))
                if episode is None:
                    break
                thread.episodes.append(episode)
            if not thread.episodes:
                return busy
            thread.result = self.pool.submit(self._run, thread, rules)
        return True

    def _run(self, thread: _Thread, rules: EpisodeRules) -> float:
        """Play a thread's episodes; return the mean seconds of one."""
        begin = time.perf_counter()
        rows = {episode.candidate: episode.parameters for episode in thread.episodes}
        weights = self.policy.unpack(np.stack([*rows.values()]).astype(np.float32, copy=False))
        places = {candidate: place for place, candidate in enumerate(rows)}
        thread.batch = self._batch(thread.episodes, places, rules)
        self._play(thread.state, thread.driver, thread.batch, weights, self._as_compiled(rules))
        return (time.perf_counter() - begin) / len(thread.episodes)

    def _as_compiled(self, rules: EpisodeRules) -> CompiledRules:
        return CompiledRules(
            limit=shortest(self.limit, rules.cap),
            repeat=self.repeat,
            early_stop=rules.early_stop,
            clip=rules.clip or (-math.inf, math.inf),
            collect=rules.collect,
            normalisation=np.zeros((0, 0)) if rules.normalisation is None else rules.normalisation,
            action_noise=rules.action_noise,
        )

    def _batch(self, episodes: list[Episode], rows: dict[int, int], rules: EpisodeRules) -> Batch:
        """Return the arrays that the machine code reads and writes for these episodes."""
        k, size = len(episodes), self.size if rules.collect else 0
        return Batch(
            seeds=np.array([episode.seed for episode in episodes]),
            network=np.array([rows[episode.candidate] for episode in episodes]),
            noise=self._noise(episodes, rules),
            running=np.zeros(1, np.int64),
            totals=np.zeros(k),
            lengths=np.zeros(k, np.int64),
            acts=np.zeros(k, np.int64),
            firsts=np.zeros((k, size)),
            sums=np.zeros((k, 2, size)),
        )

    def _noise(self, episodes: list[Episode], rules: EpisodeRules) -> Vector:
        """Return the noise (k, actions, n), enough for the longest possible episodes."""
        if not rules.action_noise:
            return np.zeros((0, 0, 0))
        shape = (-(-shortest(self.limit, rules.cap) // self.repeat), len(self.threads[0].driver.action))
        generators = [rng(e.seed, Stream.ACTION, rules.first_candidate + e.candidate) for e in episodes]
        return np.stack([generator.standard_normal(shape) for generator in generators])

    def _finished(self, threads: list[_Thread], source: Source, rules: EpisodeRules) -> list[Results]:
        """Return the rows of the episodes that are over, and free their threads."""
        found = []
        for thread in threads:
            if thread.result is None or not thread.result.done():
                continue
            result, thread.result = thread.result, None
            try:
                self._seconds = result.result()
            except Exception as error:  # raised by a user's world
                raise self._failure(thread, error) from error
            found.append(_results(thread, rules))
            for episode, length in zip(thread.episodes, thread.batch.lengths.tolist(), strict=True):
                source.done(episode.episode_id, length)
        return found

    def _failure(self, thread: _Thread, error: Exception) -> RolloutError:
        """Return the error of an episode."""
        place = _place(thread, int(thread.batch.running[0]) if thread.batch else 0)
        return RolloutError(f"{place}: {one_line(error)}\n{''.join(traceback.format_exception(error))}")

    def _abandon(self) -> None:
        """End the running episodes, and drop their results."""
        running = [thread for thread in self.threads if thread.result is not None]
        for thread in running:
            thread.driver.abandon[0] = 1
        wait([thread.result for thread in running if thread.result is not None])
        for thread in running:
            thread.driver.abandon[0] = 0
            thread.result = None


def _results(thread: _Thread, rules: EpisodeRules) -> Results:
    """Return the rows of a thread's episodes, which are over."""
    batch: Batch = thread.batch
    for i in np.flatnonzero(~np.isfinite(batch.totals)).tolist():
        rule = "finite actions and a finite return"
        raise RolloutError(f"{_place(thread, i)}: expected {rule}, got {batch.totals[i]}")
    ids = [episode.episode_id for episode in thread.episodes]
    rows = [np.stack([ids, batch.totals, batch.lengths], axis=1)]
    if rules.collect:
        seen = of_episodes(batch.acts, batch.firsts, batch.sums)
        for i in np.flatnonzero(~np.isfinite(seen).all(axis=1)).tolist():
            rule = "expected finite observations, since they are normalised"
            raise RolloutError(f"{_place(thread, i)}: {rule}")
        rows.append(seen)
    return np.concatenate(rows, axis=1)


def _place(thread: _Thread, i: int) -> str:
    """Return the episode and its step as text; -1 means that all are stepped together."""
    if i < 0:
        return f"one of {counted(len(thread.episodes), 'episode')}, which are stepped together"
    episode, step = thread.episodes[i], thread.batch.lengths[i] if thread.batch else 0
    return f"candidate {episode.candidate}, episode seed {episode.seed}, step {step}"
