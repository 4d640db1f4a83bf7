"""Episodes that run wholly in compiled code, in threads of this process: the attention agent on CarRacing.

Beside them this thread answers what cannot wait, as the ordinary rollout does between two steps.
"""

import math
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpi_es.arrays import Candidate, Vector
from mpi_es.config.run import Config
from mpi_es.errors import RolloutError
from mpi_es.evaluation.rollout import AnyRollout, Episode, EpisodeRules, Rows, Source, shortest

_POLL = 1e-3  # seconds between two looks at what cannot wait


def can_compile(config: Config, env: Any) -> bool:
    """Tell whether the attention agent's episodes in an environment can run here."""
    if config.action_noise or config.policy.output not in ("auto", "tanh"):
        return False
    from mpi_es.envs.car_racing.env import CarRacing

    return type(env) is CarRacing and env.continuous


@dataclass
class _Lane:
    """What a thread works with, and the episode that it runs."""

    simulation: Any
    driver: Any
    episode: Episode | None = None
    result: "Future[tuple[float, int]] | None" = None


class CompiledRollout(AnyRollout):
    """Runs episodes of the attention agent on CarRacing, one in each thread.

    Returns and lengths are those of the ordinary rollout, to the bit.

    Args:
        limit: steps of the environment; 0 is none.
        repeat: of these, how many an action lasts.
    """

    def __init__(self, policy: Any, env: Any, limit: int, repeat: int, threads: int) -> None:
        from mpi_es.envs.car_racing import simulation
        from mpi_es.evaluation import compiled_episode

        self.policy, self.limit, self.width = policy, limit, threads
        self.spaces = env.observation_space, env.action_space
        self.idle = {"envs_per_rank": "where whole episodes are run in compiled code"}
        self.run_episode = compiled_episode.run_episode
        self.rules = compiled_episode.Rules(limit, repeat, early_stop=0, clip=compiled_episode.UNCLIPPED)
        self.lanes = [
            _Lane(simulation.allocate(*env.choices), compiled_episode.allocate(policy, env.action_space))
            for _ in range(threads)
        ]
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="episodes")

    def compile(self) -> None:
        """Have the machine code ready: from the cache, or compiled now."""
        weights = self._weights(np.zeros(self.policy.dim, np.float32))
        lane = self.lanes[0]
        self.run_episode(lane.simulation, lane.driver, weights, 0, self.rules._replace(limit=1))

    def _weights(self, parameters: Candidate | Vector) -> Any:
        """Return the weights of one network as the agent reads them."""
        from mpi_es.policies.attention_compiled.kernel import network

        return network(self.policy.unpack(parameters[None]), 0)

    def run(self, source: Source, terms: EpisodeRules, width: int | None = None) -> Rows:
        """Return the rows of all episodes that the source gives."""
        clip = terms.clip or self.rules.clip
        limit = shortest(self.limit, terms.cap)
        rules = self.rules._replace(limit=limit, early_stop=terms.early_stop, clip=clip)
        lanes = self.lanes[: width or self.width]
        rows: list[tuple[float, ...]] = []
        try:
            while self._start(lanes, source, rules):
                results = [lane.result for lane in self.lanes if lane.result is not None]
                wait(results, _POLL, FIRST_COMPLETED)
                rows += self._finished(source)
                source.poll()
        finally:
            self._abandon()
        return np.array(rows, np.float64).reshape(-1, 3)

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()

    def _start(self, lanes: list[_Lane], source: Source, rules: Any) -> bool:
        """Give an episode to each thread that has none; return whether any has one."""
        for lane in lanes:
            if lane.result is not None:
                continue
            busy = any(other.result is not None for other in lanes)
            lane.episode = source.take(block=not busy)
            if lane.episode is None:
                return busy
            weights = self._weights(lane.episode.parameters)
            lane.result = self.pool.submit(
                self.run_episode, lane.simulation, lane.driver, weights, lane.episode.seed, rules
            )
        return True

    def _finished(self, source: Source) -> list[tuple[float, ...]]:
        """Return the rows of the episodes that are over, and free their threads."""
        rows: list[tuple[float, ...]] = []
        for lane in self.lanes:
            if lane.result is None or not lane.result.done():
                continue
            episode, (total, length) = lane.episode, lane.result.result()
            assert episode is not None
            lane.result = None
            if not math.isfinite(total):
                place = f"candidate {episode.candidate}, episode seed {episode.seed}, step {length}"
                raise RolloutError(f"{place}: expected a finite return, got {total}")
            rows.append((episode.episode_id, total, length))
            source.done(episode.episode_id, length)
        return rows

    def _abandon(self) -> None:
        """End the running episodes; nothing of them counts."""
        running = [lane for lane in self.lanes if lane.result is not None]
        for lane in running:
            lane.driver.abandon[0] = 1
        wait([lane.result for lane in running if lane.result is not None])
        for lane in running:
            lane.driver.abandon[0] = 0
            lane.result = None
