"""One generation after another, on all ranks: read this first.

    train and score the members -> share the scores -> select -> exchange -> explore -> save

Every rank knows all scores and hyperparameters. It computes selection and exploration itself, with generators
that depend only on seed, generation and member. Only states are sent, and PB2's values, which rank 0 finds.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mpi_es import seeds
from mpi_es.errors import RolloutError, UserError
from mpi_es.parallel.collective_errors import all_or_raise, on_root
from mpi_es.parallel.collectives import share_rows
from mpi_es.parallel.stop_signal import Stopped
from mpi_es.run_file.records import HeldOut
from mpi_es.seeds import Stream
from pbt.explore import explore
from pbt.lineage import Generation
from pbt.pb2.explore import explore as pb2
from pbt.population.exchange import Buffers, collect, exchange
from pbt.population.population import ENDINGS, Population
from pbt.record import Record, Winner
from pbt.selection import Choice, SelectionRules, best, select

T = TypeVar("T")


@dataclass
class Run:
    """A run in progress, on this rank."""

    population: Population
    hyperparameters: NDArray[np.float64]  # (n, space) of the next generation
    generation: int  # number of completed generations
    record: Record | None  # on rank 0: the file and the telemetry
    finished: bool = False  # whether the file says that nothing is left to do
    ended: str = ""  # why it finished, if its options are unchanged

    def __post_init__(self) -> None:
        self.config, self.comm = self.population.config, self.population.comm
        self.pending: Buffers = {}  # the states of this rank's members after the last whole generation

    # The loop

    def evolve(self) -> None:
        """Run until the last generation, a signal or an error, and record the reason. Collective."""
        self.all_or_raise(lambda: self.population.apply(self.hyperparameters))
        self.pending = self.all_or_raise(self.population.buffers)
        over = bool(self.ended) or self.generation >= self.config.max_iter
        was_over = self.finished and over  # its file stays untouched
        if not was_over:
            self.save()  # a directory that cannot be written to is refused before the work begins
        reason = self.ended
        try:
            while not reason and self.generation < self.config.max_iter:
                reason = self.one_generation()
            self.evaluate_last()
            reason, finished = reason or "last generation done", True
        except Stopped:
            reason, finished = f"stopped by {self.population.stop.name or 'a signal on another rank'}", False
        except (RolloutError, UserError) as error:
            reason = str(error).splitlines()[0]  # without the traceback
            with suppress(UserError):  # if saving is what failed
                self.save(reason)
            raise
        if not was_over:
            self.save(reason, finished=finished)
        self.on_root(
            lambda record: record.finish(self.generation, reason, finished=finished, was_over=was_over)
        )

    def one_generation(self) -> str:
        """Run one generation; an incomplete one has no effect. Collective.

        Return why it is the last one; empty if another may follow.
        """
        begin, number = time.perf_counter(), self.generation + 1
        scores, lengths = self.train(number).T
        choice = self.select(number, scores)
        done = Generation(number, scores, lengths, self.hyperparameters, choice.source)
        winner = self.evaluate(number, best(scores)) if self.is_due(number) else None  # before any copy
        self.copy(choice.source)
        values = self.explore(done, choice)
        self.all_or_raise(lambda: self.population.apply(values))
        self.pending = self.all_or_raise(self.population.buffers)
        self.generation, self.hyperparameters = number, values
        seconds = time.perf_counter() - begin
        reason, due = self.on_root(lambda record: record.generation(done, seconds, winner)) or ("", False)
        if due:
            self.save()
        return reason

    def all_or_raise(self, attempt: Callable[[], T]) -> T:
        """Return this rank's result of `attempt`, or raise on all ranks what
        any of them raised. Collective.
        """
        return all_or_raise(self.comm, attempt, ENDINGS)

    def on_root(self, work: Callable[[Record], T]) -> T:
        """Return on all ranks the result of rank 0's work on its record,
        or raise its UserError. Collective.
        """
        return on_root(self.comm, lambda: work(self.record) if self.record else None)  # type: ignore[no-any-return]

    # The steps of a generation

    def train(self, generation: int) -> NDArray[np.float64]:
        """Return score and mean episode length (n, 2) of all members. Collective."""
        rows = self.all_or_raise(lambda: self.population.train(generation))
        results = share_rows(self.comm, rows, self.population.counts)
        if not np.isfinite(results[:, 0]).any():
            raise RolloutError(f"generation {generation}: expected a finite score, got none: all diverged")
        return results

    def select(self, generation: int, scores: NDArray[np.float64]) -> Choice:
        """Return what each member copies, as --copy allows."""
        config, own = self.config, np.arange(len(scores))
        rng = seeds.rng(config.seed, Stream.SELECT, generation)
        choice = select(
            config.selection, scores, rng, SelectionRules(config.fraction, generation, config.periods)
        )
        source = own if config.copy == "nothing" else choice.source
        return Choice(source, choice.guide if config.copy == "all" else own, choice.explores)

    def copy(self, source: NDArray[np.int64]) -> None:
        """Let each member copy the state of its source. Collective."""
        copying = source != np.arange(len(source))
        if not copying.any():
            return
        population, owners = self.population, self.population.owners
        buffers = self.all_or_raise(lambda: population.buffers(set(source[copying].tolist())))
        received = exchange(self.comm, buffers, source.tolist(), owners)
        self.all_or_raise(lambda: population.adopt(source.tolist(), received))

    def explore(self, done: Generation, choice: Choice) -> NDArray[np.float64]:
        """Return the next hyperparameters (n, space): the guide's,
        changed for members that explore. Collective.
        """
        config, space = self.config, self.population.space
        values, exploring = self.hyperparameters[choice.guide], np.flatnonzero(choice.explores).tolist()

        def rng(member: int) -> np.random.Generator:
            return seeds.rng(config.seed, Stream.EXPLORE, done.number, member)

        if config.explore == "perturb":
            for member in exploring:
                values[member] = explore(space, values[member], rng(member), config.resample)
        if config.explore == "pb2" and exploring:  # on rank 0, which knows all generations
            generators = {member: rng(member) for member in exploring}
            values = self.on_root(
                lambda record: pb2(space, [*record.lineage.generations, done], values, generators)
            )
        return values

    # The held-out evaluation of the winner

    def is_due(self, generation: int) -> bool:
        """Return whether the winner of a generation is to be evaluated."""
        every, last = self.config.eval_every, generation == self.config.max_iter
        return last or (every > 0 and generation % every == 0)

    def evaluate(self, generation: int, index: int) -> Winner:
        """Return the winner with its returns on held-out episode seeds. Collective."""
        config, population = self.config, self.population
        episode_seeds = seeds.held_out_seeds(config.seed, config.num_eval_rollouts)
        rows = self.all_or_raise(lambda: population.evaluate(index, episode_seeds))
        counts = [len(episode_seeds) * (rank == population.owners[index]) for rank in range(self.comm.size)]
        held_out = HeldOut(generation, share_rows(self.comm, rows, counts)[:, 0])
        buffers = self.all_or_raise(lambda: population.buffers({index}))
        states = collect(self.comm, buffers, [index], population.owners)
        return Winner(index, held_out, states, self.hyperparameters[index])

    def evaluate_last(self) -> None:
        """Evaluate the winner of the last generation, unless it is evaluated already. Collective.

        It is not if a smaller --max-iter ends a run at a generation that was not planned as the last. The
        winner never copies, so its state and hyperparameters are still those with which it scored.
        """
        index = self.on_root(lambda record: record.lineage.winner_to_evaluate())
        if index is None:
            return
        winner = self.evaluate(self.generation, index)
        self.on_root(lambda record: record.add_last_evaluation(winner))

    # The file

    def save(self, reason: str = "", *, finished: bool = False) -> None:
        """Save the last complete generation, and why none follows. Collective."""
        begin, owners = time.monotonic(), self.population.owners
        states = collect(self.comm, self.pending, range(len(owners)), owners)
        self.on_root(
            lambda record: record.save(
                self.generation, states, self.hyperparameters, reason, finished=finished, begin=begin
            )
        )
