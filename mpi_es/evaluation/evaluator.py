"""A population and episode seeds in, returns and lengths out: rank 0 evaluates, the other ranks serve."""

import socket
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.errors import RolloutError
from mpi_es.evaluation.dynamic_dispatch import dynamic_source
from mpi_es.evaluation.messages import EpisodeIds, Evaluation, Header, arranged
from mpi_es.evaluation.rollout import EpisodeRules, Lookup, Results, Rollout, Source, columns
from mpi_es.evaluation.schedule import SHARES_LEFT
from mpi_es.evaluation.shared_noise import SharedNoise
from mpi_es.evaluation.sources import StopsAtRankLoss, WithHeartbeat, static_source
from mpi_es.parallel.collectives import Comm, bcast, gather_objects, gather_rows
from mpi_es.parallel.command_loop import CommandLoop
from mpi_es.parallel.rank_loss import RankLost, losses
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.parallel.watch import Heartbeat
from mpi_es.run_file.records import EvaluationProgress
from mpi_es.strategies.base import Population, Seeded, WithCentre
from mpi_es.strategies.noise import SlicedNoise
from mpi_es.text import counted

_EVALUATE, _PLAYED = "evaluate", "played"  # rank 0's commands
FINE, STOPPED, FAILED = range(3)  # how a rank's part ended
# Many short episodes go into a message while many remain; their candidates must not make it long.
_EPISODES_AT_ONCE, _MESSAGE_BYTES = 8, 1 << 18
_ATTEMPTS = 4  # at an evaluation: an episode that kills its rank must not kill all ranks in turn


class Evaluator:
    """Evaluates populations on all ranks of `comm`, whose rank 0 calls evaluate.

    Args:
        noise: this rank's, of seeded populations.
        held_out_rollout: plays the held-out episodes; None: `rollout` does.
    """

    def __init__(
        self,
        comm: Comm,
        rollout: Rollout,
        noise: SlicedNoise,
        stop_flag: StopFlag | None = None,
        *,
        dynamic: bool = False,
        dedicated_root: bool = False,
        heartbeat: Heartbeat | None = None,
        survives: bool = False,
        held_out_rollout: Rollout | None = None,
    ) -> None:
        self._begun_with, self.loop = comm, CommandLoop(comm, survives=survives)
        self.loop.handlers |= {_EVALUATE: self._play, _PLAYED: self._share_played}
        self.noise = SharedNoise(self.loop, noise)
        self.rollout, self.held_out_rollout = rollout, held_out_rollout or rollout
        # Not `or`: a flag that is not set is false.
        self.stop_flag = StopFlag() if stop_flag is None else stop_flag
        self._dynamic, self._dedicated_root = dynamic, dedicated_root
        self.heartbeat = heartbeat
        self.dim = rollout.policy.dim
        self.evaluation_id = 0  # of the running evaluation, or the last
        self.progress = EvaluationProgress()  # on rank 0
        self.played: list[Results] = []  # of this evaluation's episodes that this rank played
        # From evaluations in which a rank was lost: MPI may still read their buffers.
        self.abandoned: list[Source] = []

    def leave(self) -> None:
        """End the heartbeat, and free its groups of ranks. Collective."""
        if self.heartbeat:
            self.heartbeat.end()
        if self.loop.comm is self._begun_with:  # ranks that were lost cannot take part
            self.rollout.groups.free()

    def close_environments(self) -> None:
        """Close this rank's environments; called however the run ended."""
        self.rollout.close()
        if self.held_out_rollout is not self.rollout:
            self.held_out_rollout.close()

    def held_out_rules(self, cap: int, normalisation: Vector | None) -> EpisodeRules:
        """Return the rules of held-out episodes; the arguments are those of Rollout.full_episode_rules."""
        return replace(self.held_out_rollout.full_episode_rules(cap, normalisation), held_out=True)

    def evaluate(
        self, population: Population | WithCentre, seeds: NDArray[np.int64], rules: EpisodeRules
    ) -> Evaluation:
        """Return the evaluation of each candidate on its row of episode seeds (candidates, episodes)."""
        evaluation_id, attempts = self.evaluation_id + 1, 0

        def attempt() -> Evaluation:
            nonlocal attempts
            episode_ids = np.arange(seeds.size)
            if attempts:
                episode_ids = episode_ids[~np.isin(episode_ids, self._played(evaluation_id))]
            attempts += 1
            if attempts > _ATTEMPTS:
                raise RolloutError(
                    f"ranks were lost {_ATTEMPTS} times in one evaluation; one of its {len(episode_ids)} "
                    "unplayed episodes may kill the rank that plays it"
                )
            header = self._header(evaluation_id, population, seeds, len(episode_ids), rules)
            begin = time.perf_counter()
            self.loop.send(_EVALUATE, header)
            rows, busy = self._play(header, population, episode_ids)
            # Other ranks report their last episodes with their rows only.
            self.progress.done = self.progress.total
            ranks, seconds = self.loop.comm.size, time.perf_counter() - begin
            idle = 1 - busy / (ranks * seconds) if ranks > 1 else 0.0
            return arranged(header, rows, idle)

        return self.loop.retry_without_lost_ranks(attempt)

    def _header(
        self,
        evaluation_id: int,
        population: Population | WithCentre,
        seeds: NDArray[np.int64],
        unplayed: int,
        rules: EpisodeRules,
    ) -> Header:
        """Return what all ranks need to know about an evaluation."""
        side_by_side = self._side_by_side(unplayed)
        seeded = _seeded(population)
        return Header(
            evaluation_id,
            seeds,
            unplayed,
            rules,
            dynamic=self.dynamic,
            first_evaluating_rank=self.first_evaluating_rank,
            episodes_side_by_side=side_by_side,
            episodes_at_once=max(side_by_side, self._in_a_message(seeded is None)),
            keys=None if seeded is None else seeded.keys,
            sigma=0.0 if seeded is None else seeded.sigma,
            other_centre=self._has_other_centre(population),
            precision=self.rollout.parameter_precision,
            constraints=self.rollout.constraints,
        )

    def _has_other_centre(self, population: Population | WithCentre) -> bool:
        """Return whether a seeded population comes with a centre other than its own."""
        seeded = _seeded(population)
        if seeded is None or not isinstance(population, WithCentre):
            return False
        precision = self.rollout.parameter_precision
        ours, its = population.centre.astype(precision), seeded.centre.astype(precision)
        return not np.array_equal(ours, its)

    def _played(self, evaluation_id: int) -> NDArray[np.float64]:
        """Return the ids of the episodes that the ranks have played in the evaluation with that id."""
        self.loop.send(_PLAYED, evaluation_id)
        return np.concatenate(self._share_played(evaluation_id) or [])

    @property
    def players(self) -> int:
        """Rank 0, and the ranks or groups of ranks that evaluate; rank 0 counts once."""
        first = self.first_evaluating_rank
        return first + self.rollout.groups.count(self.loop.comm.size, first)

    @property
    def first_evaluating_rank(self) -> int:
        """The lowest rank that evaluates: 1 if rank 0 only directs."""
        return int(self._dedicated_root and self.loop.comm.size > 1)

    @property
    def dynamic(self) -> bool:
        """Whether episodes are handed out as ranks become free; a single rank takes them itself."""
        return self._dynamic and self.players > 1

    def _side_by_side(self, episodes: int) -> int:
        """Return how many episodes a rank holds side by side.

        With dynamic dispatch, no rank should hold many while others have none.
        """
        players = self.players - self.first_evaluating_rank
        share = episodes // (players * SHARES_LEFT) if self.dynamic else -(-episodes // players)
        return max(1, min(self.rollout.width, share))

    def _in_a_message(self, rows_travel: bool) -> int:
        """Return how many episodes rank 0 may send in one message to a rank that plays them one by one."""
        row = self.dim * np.dtype(self.rollout.parameter_precision).itemsize if rows_travel else 1
        return max(1, min(_EPISODES_AT_ONCE, _MESSAGE_BYTES // row))

    def _play(
        self,
        header: Header,
        population: Population | WithCentre | None = None,
        episode_ids: EpisodeIds | None = None,
    ) -> tuple[Results, float]:
        """Play this rank's episodes; return on rank 0 the rows of all ranks
        and the seconds of work. Collective.

        Args:
            population, episode_ids: on rank 0.
        """
        self._begin(header.evaluation_id)
        make_source = dynamic_source if header.dynamic else static_source
        lookup = self._lookup(header, population)
        leaders, source = self.divide(), Source()
        with nullcontext() if leaders is None else losses(leaders):
            if leaders is not None:
                source = make_source(
                    leaders, header, episode_ids, self.dim, lookup, self.stop_flag, self.progress
                )
            begin = time.perf_counter()
            outcome, failure = self._play_from(source, header, leaders)
        busy = time.perf_counter() - begin - source.waited
        return self._collect(header, outcome, failure, busy)

    def divide(self) -> Comm | None:
        """Return the communicator of the ranks that are handed episodes; None on other ranks. Collective."""
        return self.rollout.groups.divide(self.loop.comm, self.first_evaluating_rank)

    def _shared(self, header: Header, centre: Candidate | Vector | None) -> Candidate | Vector:
        """Return rank 0's centre (dim,). Collective."""
        shared = np.empty(self.dim, header.precision)
        if centre is not None:
            shared[:] = centre
        bcast(self.loop.comm, shared)
        return shared

    def _begin(self, evaluation_id: int) -> None:
        """Forget the episodes of any evaluation but this one."""
        if evaluation_id != self.evaluation_id:
            self.evaluation_id, self.played, self.rollout.failure = evaluation_id, [], ""

    def _lookup(self, header: Header, population: Population | WithCentre | None) -> Lookup | None:
        """Return the lookup of candidates on this rank; None if rank 0 sends them. Collective."""
        if header.keys is None:
            found, noise = population, self.noise
            if found is None:
                return None
            return lambda index: found.candidate(index, noise).astype(header.precision, copy=False)
        own = self.noise.noise
        seeded = None if population is None else _seeded(population)
        centre = self._shared(header, None if seeded is None else seeded.centre)
        find: Lookup = partial(own.candidate, Seeded(centre, header.sigma, header.keys))
        if not header.other_centre:
            return find
        other = self._shared(header, population.centre if isinstance(population, WithCentre) else None)
        last = own.candidate(Seeded(other, 0.0, header.keys[:0]), 0)  # of no pairs: number 0 is the centre
        return lambda index: last if index == len(header.seeds) - 1 else find(index)

    def _play_from(
        self, source: Source, header: Header, leaders: Comm | None
    ) -> tuple[int, RolloutError | None]:
        """Play the episodes of a source; return how this ended, and the error if it failed.

        Args:
            leaders: the communicator of the source.
        """
        outcome, failure, lost = FINE, None, None
        beat: Callable[[str], object] = self.heartbeat.write if self.heartbeat else lambda text: None
        rollout = self.held_out_rollout if header.rules.held_out else self.rollout
        wrapped: Source = source if self.heartbeat is None else WithHeartbeat(source, self.heartbeat)
        if self.loop.survives:
            wrapped = StopsAtRankLoss(wrapped, leaders)
        try:
            source.waited += rollout.groups.help(rollout.attempt, beat)
            with rollout.groups.led():
                if self.stop_flag:  # a rank without episodes would not check it otherwise
                    raise Stopped
                if self.loop.comm.rank >= header.first_evaluating_rank:
                    self.played.append(rollout.run(wrapped, header.rules, header.episodes_side_by_side))
        except Stopped:
            outcome = STOPPED
        except RankLost as error:  # in this rank's group
            lost = error
        except BaseException as error:  # the others would wait for ever
            # A signal may also end a program that the episode has started, which fails it.
            outcome = STOPPED if self.stop_flag else FAILED
            text = str(error) if isinstance(error, RolloutError) else traceback.format_exc()
            failure = RolloutError(f"rank {self.loop.comm.rank} on {socket.gethostname()}: {text}")
            failure.x = getattr(error, "x", None)
        beat("")
        source.halt()
        try:
            if lost := lost or wrapped.lost:
                raise lost
            source.close(complete=outcome == FINE)
        except BaseException:
            self.abandoned.append(source)
            raise
        return outcome, failure

    def _collect(
        self, header: Header, outcome: int, failure: RolloutError | None, busy: float
    ) -> tuple[Results, float]:
        """Gather the rows on rank 0, or raise there the error of a rank. Collective."""
        comm, width = self.loop.comm, columns(header.rules, self.rollout.size, header.constraints)
        rows = np.concatenate([np.empty((0, width)), *self.played])
        ends = gather_objects(comm, (outcome, failure, busy, self.rollout.failure, len(rows)))
        gathered = gather_rows(comm, rows, ends and [end[-1] for end in ends])
        if ends is None or gathered is None:
            return rows, busy
        outcomes, failures, seconds, causes, _ = zip(*ends, strict=True)
        self.rollout.failure = next(filter(None, causes), "")
        if FAILED in outcomes:
            first, others = failures[outcomes.index(FAILED)], outcomes.count(FAILED) - 1
            more = f"\n({counted(others, 'more rank')} failed)" if others else ""
            error = RolloutError(str(first).rstrip() + more)
            error.x = first.x
            raise error
        if STOPPED in outcomes:
            self.stop_flag.name = self.stop_flag.name or "a signal on another rank"
            raise Stopped
        return gathered, sum(seconds)

    def _share_played(self, evaluation_id: int) -> list[NDArray[np.float64]] | None:
        """Return on rank 0 the ids of the episodes that each rank has played. Collective."""
        self._begin(evaluation_id)
        return gather_objects(self.loop.comm, np.concatenate([np.empty(0), *(r[:, 0] for r in self.played)]))


def _seeded(population: Population | WithCentre) -> Seeded | None:
    """Return the population if every rank can make its candidates; None if rank 0 sends them."""
    inner = population.population if isinstance(population, WithCentre) else population
    return inner if isinstance(inner, Seeded) else None
