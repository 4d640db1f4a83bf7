"""A population and episode seeds in, returns and lengths out: the work of all ranks, told by rank 0."""

import socket
import time
import traceback
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.errors import RolloutError
from mpi_es.evaluation.dynamic_dispatch import DynamicRoot, DynamicWorker
from mpi_es.evaluation.header import Evaluation, Job, arranged, dynamic_source, find, static_source
from mpi_es.evaluation.rollout import Rollout, Rows, Terms
from mpi_es.evaluation.sources import StopsAtRankLoss, WithHeartbeat
from mpi_es.parallel.collectives import Comm, bcast, gather_objects, gather_rows, offsets
from mpi_es.parallel.command_loop import STOP, CommandLoop
from mpi_es.parallel.heartbeat import Heartbeat
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.strategies.base import Population, Seeded

EVALUATE, SUM, EXPLAIN, PLAYED = range(STOP + 1, STOP + 5)  # rank 0's commands
FINE, STOPPED, FAILED = range(3)  # how a rank's part ended
_ATTEMPTS = 4  # at an evaluation: an episode that kills its rank must not kill all, one after the other


class Evaluator(CommandLoop):
    """Rank 0 calls evaluate, weighted_sum and stop; the others do their part in serve.

    It is also the Noise that a seeded strategy is given on rank 0: its sums are shared by all ranks.
    """

    def __init__(
        self,
        comm: Comm,
        rollout: Rollout,
        noise: Any,
        stop_flag: StopFlag | None = None,
        *,
        dynamic: bool = False,
        dedicated_root: bool = False,
        heartbeat: Heartbeat | None = None,
        survives: bool = False,
        held_out_rollout: Rollout | None = None,
    ) -> None:
        super().__init__(comm, 1 + len(fields(Job)), survives=survives)
        self.rollout, self.noise = rollout, noise
        self.held_out_rollout = held_out_rollout or rollout  # plays the held-out episodes
        self.stop_flag = StopFlag() if stop_flag is None else stop_flag  # one that is down is false
        self._dynamic, self._dedicated_root = dynamic, dedicated_root
        self.heartbeat = heartbeat
        self.dim = rollout.policy.dim
        self.number = 0  # of the evaluation under way, or the last
        self.played: list[Rows] = []  # of its episodes, those that this rank played
        self.explanation = ""  # of what went wrong in this rank's part
        self.abandoned: Any = None  # the source of an evaluation in which a rank was lost

    # What rank 0 calls

    def held_out(self, cap: int, scaling: NDArray[np.float32] | None) -> Terms:
        """Return the terms of held-out episodes; the arguments are Rollout.whole's."""
        return replace(self.held_out_rollout.whole(cap, scaling), held_out=True)

    def evaluate(
        self, population: Population, seeds: NDArray[np.int64], terms: Terms, mean: Vector | None = None
    ) -> Evaluation:
        """Return what each candidate came to on its row of episode seeds (candidates, episodes).

        Args:
            mean: evaluated as one more candidate, the last.
        """
        number, attempts = self.number + 1, 0

        def attempt() -> Evaluation:
            nonlocal attempts
            units = self._left(number, seeds.size) if attempts else np.arange(seeds.size)
            attempts += 1
            if attempts > _ATTEMPTS:
                raise RolloutError(
                    f"ranks were lost {_ATTEMPTS} times in one evaluation; of its episodes {len(units)} are "
                    "unplayed, one of which may end whoever plays it"
                )
            return self._evaluate(number, population, units, seeds, terms, mean)

        return self.retry_without_lost_ranks(attempt)

    def _evaluate(
        self,
        number: int,
        population: Population,
        units: NDArray[np.int64],
        seeds: NDArray[np.int64],
        terms: Terms,
        mean: Vector | None,
    ) -> Evaluation:
        """Return the evaluation, of which these units are still to be played."""
        candidates, episodes = seeds.shape
        job = Job(
            number=number,
            candidates=candidates,
            episodes=episodes,
            left=len(units),
            pairs=len(population) // 2 if isinstance(population, Seeded) else 0,
            dynamic=int(self.dynamic),
            first=self.first,
            width=self._width(len(units)),
            sigma=population.sigma if isinstance(population, Seeded) else 0.0,
            cap=terms.cap,
            action_noise=terms.action_noise,
            collect=int(terms.collect),
            scaled=int(terms.scaling is not None),
            early_stop=terms.early_stop,
            held_out=int(terms.held_out),
        )
        begin = time.perf_counter()
        self.send(EVALUATE, *vars(job).values())
        rows, busy = self._take_part(job, population, units, seeds, terms, mean)
        return arranged(job, rows, 1 - busy / (self.comm.size * (time.perf_counter() - begin)))

    def _left(self, number: int, units: int) -> NDArray[np.int64]:
        """Return the units that no rank has played in the evaluation of that number."""
        self.send(PLAYED, number)
        played = self._share_played(number)
        assert played is not None
        return np.setdiff1d(np.arange(units), played.astype(np.int64))

    @property
    def first(self) -> int:
        """The lowest rank that evaluates."""
        return int(self._dedicated_root and self.comm.size > 1)

    @property
    def dynamic(self) -> bool:
        """Whether episodes are handed out as ranks come free; alone there is nobody to leave them to."""
        return self._dynamic and bool(self.comm.size > 1)

    def _width(self, units: int) -> int:
        """Return how many episodes a rank holds side by side.

        Where they are handed out as ranks come free, none should hold many while others have none.
        """
        share = units // (int(self.comm.size) - self.first)
        return max(1, min(self.rollout.width, share // 4 if self.dynamic else share))

    def keys(self, generation: int, count: int) -> NDArray[np.int64]:
        """Return the keys (count,) of a generation's perturbations."""
        keys: NDArray[np.int64] = self.noise.keys(generation, count)
        return keys

    def row(self, key: int) -> Candidate:
        """Return the perturbation (dim,) of a key."""
        row: Candidate = self.noise.row(key)
        return row

    def weighted_sum(self, keys: NDArray[np.int64], weights: Vector) -> Candidate:
        """Return the sum over i of weights[i] * row(keys[i]), (dim,). The others serve."""

        def attempt() -> Candidate:
            self.send(SUM, len(keys))
            gathered = self._sum_slice(keys, np.asarray(weights, np.float64))
            assert gathered is not None
            return gathered.reshape(-1)

        return self.retry_without_lost_ranks(attempt)

    # What the others do

    def handle(self, numbers: NDArray[np.float64]) -> None:
        """Do this rank's part of an evaluation, a sum or a question. Collective."""
        send = int(numbers[0])
        if send == EVALUATE:
            self._serve_evaluation(numbers)
        elif send == SUM:
            count = int(numbers[1])
            self._sum_slice(np.empty(count, np.int64), np.empty(count))
        elif send == EXPLAIN:
            gather_objects(self.comm, self.explanation)
        elif send == PLAYED:
            self._share_played(int(numbers[1]))

    def _serve_evaluation(self, header: NDArray[np.float64]) -> None:
        job = Job.received(header[1:])
        scaling = np.empty((2, self.rollout.size), np.float32) if job.scaled else None
        terms = Terms(
            job.cap, scaling, job.action_noise, bool(job.collect), job.early_stop, bool(job.held_out)
        )
        self._take_part(job, None, None, None, terms, None)

    def _share_played(self, number: int) -> NDArray[np.float64] | None:
        """Return on rank 0 the units that all ranks have played. Collective."""
        self._begin(number)
        mine = np.concatenate([np.empty(0), *(rows[:, 0] for rows in self.played)])
        counts = gather_rows(self.comm, np.array([len(mine)]), self._ones())
        return gather_rows(self.comm, mine, None if counts is None else counts.tolist())

    def _begin(self, number: int) -> None:
        """Forget what was played in another evaluation than this."""
        if number != self.number:
            self.number, self.played = number, []

    # One evaluation, on every rank

    def _take_part(
        self,
        job: Job,
        population: Population | None,
        units: NDArray[np.int64] | None,
        seeds: NDArray[np.int64] | None,
        terms: Terms,
        mean: Vector | None,
    ) -> tuple[Rows, float]:
        """Return on rank 0 the rows of all units, in the order of units, and the seconds of work."""
        self._begin(job.number)
        if terms.scaling is not None:
            bcast(self.comm, terms.scaling)
        if job.pairs:
            population = self._share_seeded(job, population)
        lookup = find(population, mean, self.noise)
        make_source = dynamic_source if job.dynamic else static_source
        source: Any = make_source(self.comm, job, self.dim, lookup, units, seeds, self.stop_flag)
        begin = time.perf_counter()
        outcome = self._work(job, source, terms)
        busy = time.perf_counter() - begin - source.waited
        return self._collect(job, outcome, busy)

    def _work(self, job: Job, source: Any, terms: Terms) -> int:
        """Run this rank's episodes; whatever goes wrong is kept for rank 0 to ask for."""
        outcome = FINE
        self.explanation = ""
        playing = source if self.heartbeat is None else WithHeartbeat(source, self.heartbeat)
        enduring = StopsAtRankLoss(playing, self.comm)
        rollout = self.held_out_rollout if terms.held_out else self.rollout
        try:
            if self.stop_flag:  # a rank that has no episodes would never look
                raise Stopped
            if self.comm.rank >= job.first:
                self.played.append(rollout.run(enduring if self.survives else playing, terms, job.width))
        except Stopped:
            outcome = STOPPED
        except BaseException as error:  # the others would wait for ever
            outcome = FAILED
            text = str(error) if isinstance(error, RolloutError) else traceback.format_exc()
            self.explanation = f"rank {self.comm.rank} on {socket.gethostname()}: {text}"
        if self.heartbeat:
            self.heartbeat.write("")
        if enduring.lost:
            self.abandoned = source  # MPI may still read what it was sending
            raise enduring.lost
        if isinstance(source, DynamicRoot):
            source.finish(abandon=outcome != FINE)
        elif isinstance(source, DynamicWorker):
            source.leave()
        return outcome

    def _collect(self, job: Job, outcome: int, busy: float) -> tuple[Rows, float]:
        """Gather the rows on rank 0, or raise there what a rank met."""
        width = 3 + (2 * self.rollout.size if job.collect else 0)
        rows = np.concatenate([np.empty((0, width)), *self.played])
        report = gather_rows(self.comm, np.array([[outcome, len(rows), busy]]), self._ones())
        if report is None:
            gather_rows(self.comm, rows, None)
            return rows, busy
        gathered = gather_rows(self.comm, rows, report[:, 1].astype(int).tolist())
        assert gathered is not None
        if FAILED in report[:, 0]:
            self.send(EXPLAIN)
            said = [text for text in gather_objects(self.comm, self.explanation) or [] if text]
            more = f"\n({len(said) - 1} more ranks failed)" if len(said) > 1 else ""
            raise RolloutError(said[0].rstrip() + more)
        if STOPPED in report[:, 0]:
            self.stop_flag.name = self.stop_flag.name or "a signal on another rank"
            raise Stopped
        return gathered[np.argsort(gathered[:, 0], kind="stable")], float(report[:, 2].sum())

    def _ones(self) -> list[int] | None:
        return [1] * self.comm.size if self.comm.rank == 0 else None

    def _share_seeded(self, job: Job, population: Population | None) -> Seeded:
        """Give every rank the centre and the keys."""
        if isinstance(population, Seeded):
            centre, keys = np.ascontiguousarray(population.centre), population.keys
        else:
            centre, keys = np.empty(self.dim, np.float32), np.empty(job.pairs, np.int64)
        bcast(self.comm, centre)
        bcast(self.comm, keys)
        return Seeded(centre, job.sigma, keys)

    # One sum over the noise, on every rank

    def _sum_slice(self, keys: NDArray[np.int64], weights: Vector) -> NDArray[np.float32] | None:
        """Sum this rank's slice of the parameters over all candidates; rank 0 gets all slices.

        Every element is a sum in the order of the candidates, so the number of ranks cannot change it.
        """
        bcast(self.comm, keys)
        bcast(self.comm, weights)
        starts = offsets(self.dim, self.comm.size, 0, self.noise.block)
        rank = self.comm.rank
        part = self.noise.partial_sum(keys, weights, starts[rank], starts[rank + 1])
        counts = np.diff(starts).tolist() if rank == 0 else None
        return gather_rows(self.comm, part.reshape(-1, 1), counts)
