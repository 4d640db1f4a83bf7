"""One evaluation: what rank 0 tells the others of it, the share that each gets, and the result."""

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.evaluation.dynamic_dispatch import DynamicRoot, DynamicWorker
from mpi_es.evaluation.rollout import Rows
from mpi_es.evaluation.sources import Lookup, StaticSource
from mpi_es.parallel.collectives import Comm, offsets, scatter_rows
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.strategies.base import Dense, Population

Seeds = NDArray[np.int64] | None  # (candidates, episodes) on rank 0
Units = NDArray[np.int64] | None  # (left,) on rank 0: episode k of candidate i is i * episodes + k


@dataclass(frozen=True)
class Evaluation:
    """What candidates came to; the order is that of candidates and episodes, whoever ran them."""

    returns: Vector  # (candidates, episodes); NaN was not played
    lengths: NDArray[np.int64]  # (candidates, episodes)
    sums: Vector  # (candidates * episodes, 1 + 2 * size): lengths, sums and squares of observations
    idle: float  # share of the ranks' time that was waiting

    @property
    def played(self) -> int:
        """The number of episodes that were played, whose lengths are not 0."""
        return int(np.count_nonzero(self.lengths))


@dataclass(frozen=True)
class Job:
    """The header of an evaluation, in the order in which it travels."""

    number: int  # which evaluation this is; one that is begun again keeps its number
    candidates: int
    episodes: int
    left: int  # episodes that are to be played: all, unless it is begun again
    pairs: int  # of a seeded population; 0 for a dense one
    dynamic: int
    first: int  # the lowest rank that evaluates
    width: int
    sigma: float
    cap: int
    action_noise: float
    collect: int
    scaled: int
    early_stop: int
    held_out: int

    @classmethod
    def received(cls, numbers: NDArray[np.float64]) -> "Job":
        """Return the job of a header's numbers, each in the type of its field."""
        kinds: list[Any] = [field.type for field in fields(cls)]
        return cls(*(kind(number) for kind, number in zip(kinds, numbers, strict=True)))


def find(population: Population | None, mean: Vector | None, noise: Any) -> Lookup | None:
    """Return how a candidate is found by its number; beyond the population lies its mean."""
    if population is None:
        return None
    size = len(population)
    if isinstance(population, Dense):
        last = None if mean is None else mean.astype(np.float32)
        return lambda i: population.candidate(i) if i < size or last is None else last
    return lambda i: population.candidate(i, noise) if i < size else population.centre


def dynamic_source(
    comm: Comm, job: Job, dim: int, lookup: Lookup | None, units: Units, seeds: Seeds, stop_flag: StopFlag
) -> DynamicRoot | DynamicWorker:
    """Return what hands out the episodes on rank 0, and what asks for them elsewhere."""
    if units is None or seeds is None:
        return DynamicWorker(comm, job.episodes, job.width, dim, lookup, stop_flag)
    assert lookup is not None
    send_rows = not job.pairs
    return DynamicRoot(comm, units, seeds, job.width, lookup, stop_flag, send_rows=send_rows)


def static_source(
    comm: Comm, job: Job, dim: int, lookup: Lookup | None, units: Units, seeds: Seeds, stop_flag: StopFlag
) -> StaticSource:
    """Scatter the units with their seeds, and the rows of a dense population."""
    starts = offsets(job.left, comm.size, job.first)
    share = np.empty((starts[comm.rank + 1] - starts[comm.rank], 2), np.int64)
    everything = None if units is None or seeds is None else np.stack([units, seeds.ravel()[units]], axis=1)
    scatter_rows(comm, everything, starts, share)
    if not job.pairs:
        lookup = _scatter_candidates(comm, job, dim, units, starts, share[:, 0], lookup)
    assert lookup is not None
    return StaticSource(share[:, 0], share[:, 1], job.episodes, lookup, stop_flag)


def _scatter_candidates(
    comm: Comm,
    job: Job,
    dim: int,
    units: Units,
    starts: list[int],
    mine: NDArray[np.int64],
    lookup: Lookup | None,
) -> Lookup:
    """Send each rank the candidates of its units; one that lies across a border goes to both."""
    rows, ends = None, []
    if lookup is not None and units is not None:
        parts = [np.unique(units[a:b] // job.episodes) for a, b in pairwise(starts)]
        ends = np.cumsum([0, *map(len, parts)]).tolist()
        rows = np.empty((ends[-1], dim), np.float32)
        for place, candidate in enumerate(np.concatenate(parts).tolist()):
            rows[place] = lookup(candidate)
    candidates = np.unique(mine // job.episodes).tolist()
    share = np.empty((len(candidates), dim), np.float32)
    scatter_rows(comm, rows, ends, share)
    places = {candidate: place for place, candidate in enumerate(candidates)}
    return lambda candidate: share[places[candidate]]


def arranged(job: Job, rows: Rows, idle: float) -> Evaluation:
    """Return the rows of all units in the shape (candidates, episodes)."""
    shape = (job.candidates, job.episodes)
    assert np.array_equal(rows[:, 0], np.arange(job.candidates * job.episodes)), "every unit once"
    return Evaluation(
        returns=rows[:, 1].reshape(shape),
        lengths=rows[:, 2].astype(np.int64).reshape(shape),
        sums=rows[:, 2:],
        idle=max(0.0, idle),
    )
