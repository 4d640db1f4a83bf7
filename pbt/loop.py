"""One generation after the other, on all ranks: read this first.

    train and score the members -> share the scores -> select -> exchange -> explore -> save

Every rank knows all scores and hyperparameters, and computes selection and exploration by itself, from
generators that are named by seed, generation and member. Only states travel.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import RolloutError, UserError
from mpi_es.parallel.collectives import on_root, share_rows
from mpi_es.parallel.stop_signal import Stopped
from mpi_es.run_file.records import HeldOut
from mpi_es.seeds import Stream, held_out_seeds, rng
from pbt.explore import explore
from pbt.lineage import Generation
from pbt.population.agreement import MemberFailed, together
from pbt.population.exchange import Buffers, collect, exchange
from pbt.population.population import Population
from pbt.record import Log, Winner
from pbt.selection import best, select

T = TypeVar("T")


@dataclass
class Run:
    """A run under way, on this rank."""

    population: Population
    hyperparameters: NDArray[np.float64]  # (n, space) of the next generation
    generation: int  # how many are done
    log: Log | None  # rank 0's: the file, and what is told
    over: bool = False  # the file says that nothing is left to do

    def __post_init__(self) -> None:
        self.config, self.comm = self.population.config, self.population.comm
        self.pending: Buffers = {}  # the states of this rank's members after the last whole generation
        self.saved = self.generation

    # The loop

    def evolve(self) -> None:
        """Run until something ends it, and tell what did. Collective."""
        self.together(lambda: self.population.apply(self.hyperparameters))
        self.pending = self.together(self.population.buffers)
        if self.generation < self.config.max_iter or not self.over:
            self.saved = -1  # a directory that cannot be written to is told before the work begins
            self.save()
        try:
            while self.generation < self.config.max_iter:
                self.one_generation()
            reason = "last generation done"
        except Stopped:
            reason = "stopped by a signal"
        except (RolloutError, UserError) as error:
            first, *others = str(error).splitlines()
            reason = first + "".join(others[-1:])  # the last line of a traceback says what was raised
            with suppress(UserError):  # where saving is what went wrong
                self.save()
                self.tell(lambda log: log.end(reason))
            raise
        self.save()
        self.tell(lambda log: log.finish(self.generation, reason))

    def one_generation(self) -> None:
        """Do one generation; nothing of it counts unless all of it is done. Collective."""
        begin, number = time.perf_counter(), self.generation + 1
        scores, lengths = self.train(number).T
        source = self.select(number, scores)
        copied = np.arange(len(source)) if self.config.copy == "nothing" else source
        done = Generation(number, scores, lengths, self.hyperparameters, copied)
        winner = self.evaluated(number, best(scores)) if self.due(number) else None  # before anybody changes
        self.copy(copied)
        values = self.explored(number, source)
        self.together(lambda: self.population.apply(values))
        self.pending = self.together(self.population.buffers)
        self.generation, self.hyperparameters = number, values
        self.tell(lambda log: log.generation(done, time.perf_counter() - begin, winner))
        if number % self.config.checkpoint_every == 0:
            self.save()

    def together(self, work: Callable[[], T]) -> T:
        """Return what this rank's part gives, or end the run on all ranks if a member failed. Collective."""
        try:
            return together(self.comm, work)
        except MemberFailed as error:
            raise RolloutError(str(error)) from None

    def tell(self, what: Callable[[Log], None]) -> None:
        """Let rank 0 write or print; its mistakes are everybody's. Collective."""
        on_root(self.comm, lambda: what(self.log) if self.log else None)

    # What a generation is made of

    def train(self, generation: int) -> NDArray[np.float64]:
        """Return score and episode length (n, 2) of all members. Collective."""
        rows = self.together(lambda: self.population.train(generation))
        results = share_rows(self.comm, rows, self.population.counts)
        if not np.isfinite(results[:, 0]).any():
            raise RolloutError(f"generation {generation}: expected a finite score, got none: all diverged")
        return results

    def select(self, generation: int, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the source (n,) of each member."""
        config = self.config
        if config.baseline:
            return np.arange(len(scores))
        draw = rng(config.seed, Stream.SELECT, generation)
        return select(config.selection, scores, draw, config.fraction)

    def copy(self, source: NDArray[np.int64]) -> None:
        """Let the weak copy the strong. Collective."""
        copying = source != np.arange(len(source))
        if not copying.any():
            return
        population, owners = self.population, self.population.owners
        buffers = self.together(lambda: population.buffers(set(source[copying].tolist())))
        got = exchange(self.comm, buffers, source.tolist(), owners, self.config.exchange)
        self.together(lambda: population.adopt(source.tolist(), got))

    def explored(self, generation: int, source: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the next hyperparameters (n, space): copied too, and changed where a member copied."""
        config, copying = self.config, np.flatnonzero(source != np.arange(len(source)))
        values = self.hyperparameters[source] if config.copy == "all" else self.hyperparameters.copy()
        for member in copying.tolist() if config.explore else ():
            draw = rng(config.seed, Stream.EXPLORE, generation, member)
            values[member] = explore(self.population.space, values[member], draw, config.resample)
        return values

    # The held-out evaluation of the winner

    def due(self, generation: int) -> bool:
        """Tell whether a generation is one to evaluate."""
        every, last = self.config.eval_every, generation == self.config.max_iter
        return last or (every > 0 and generation % every == 0)

    def evaluated(self, generation: int, index: int) -> Winner:
        """Return how the winner does in episodes that nothing else in the run draws. Collective."""
        config, population = self.config, self.population
        seeds = held_out_seeds(config.seed, config.num_eval_rollouts)
        rows = self.together(lambda: population.evaluate(index, seeds))
        counts = [len(seeds) * (rank == population.owners[index]) for rank in range(self.comm.size)]
        held_out = HeldOut(generation, share_rows(self.comm, rows, counts)[:, 0])
        buffers = self.together(lambda: population.buffers({index}))
        states = collect(self.comm, buffers, [index], population.owners)
        return Winner(index, held_out, states, self.hyperparameters[index])

    # The file

    def save(self) -> None:
        """Save the last whole generation, unless that was done. Collective."""
        if self.saved == self.generation:
            return
        owners = self.population.owners
        states = collect(self.comm, self.pending, range(len(owners)), owners)
        self.tell(lambda log: log.save(self.generation, states, self.hyperparameters))
        self.saved = self.generation
