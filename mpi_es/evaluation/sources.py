"""Sources of a rank's episodes: a fixed share, and wrappers around any source."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from mpi_es.arrays import Candidate, Vector
from mpi_es.evaluation.header import Header, Units, Work
from mpi_es.evaluation.rollout import Episode, Source
from mpi_es.parallel.collectives import Comm, offsets, scatter_rows
from mpi_es.parallel.rank_loss import RankLost, losses
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.parallel.watch import Heartbeat
from mpi_es.run_file.records import EvaluationProgress

Lookup = Callable[[int], Candidate | Vector]  # candidate -> parameters


class OneEpisode:
    """A source of one episode."""

    def __init__(self, episode: Episode) -> None:
        self.episodes = [episode]

    def take(self, block: bool) -> Episode | None:
        """Return the episode once."""
        return self.episodes.pop() if self.episodes else None

    def done(self, unit: int, length: int) -> None:
        """Ignore the length."""

    def poll(self) -> None:
        """Do nothing between steps."""


class StaticSource:
    """A rank's fixed share of the units.

    Args:
        progress: of rank 0.
    """

    def __init__(
        self,
        header: Header,
        units: Units,
        lookup: Lookup,
        stop: StopFlag,
        progress: EvaluationProgress | None = None,
    ) -> None:
        self.header, self.lookup, self.stop, self.progress = header, lookup, stop, progress
        self.share = iter(units.tolist())
        self.waited = 0.0

    def take(self, block: bool) -> Episode | None:
        """Return the share's next episode."""
        for unit, seed in self.share:
            candidate = self.header.candidate(unit)
            return Episode(unit, candidate, seed, self.lookup(candidate))
        return None

    def done(self, unit: int, length: int) -> None:
        """Count a finished episode."""
        if self.progress:
            self.progress.add()

    def poll(self) -> None:
        """Raise Stopped if a signal has arrived."""
        if self.stop:
            raise Stopped

    def close(self, *, complete: bool) -> None:
        """Do nothing: no rank waits for this one."""

    def halt(self) -> None:
        """Do nothing: there is no thread."""


def static_source(
    comm: Comm, header: Header, work: Work | None, dim: int, lookup: Lookup | None, stop: StopFlag
) -> StaticSource:
    """Scatter the units, and the rows of a dense population. Collective.

    Args:
        lookup: None where this rank has no population.
    """
    starts = offsets(header.unplayed, comm.size, header.first_evaluating_rank)
    share, lookup = scatter_units(comm, header, work.units if work else None, starts, dim, lookup)
    if not work:
        return StaticSource(header, share, lookup, stop)
    work.progress.begin(len(share), 0, held_out=header.terms.held_out, share=len(share) < header.unplayed)
    return StaticSource(header, share, lookup, stop, work.progress)


def scatter_units(
    comm: Comm, header: Header, units: Units | None, starts: Sequence[int], dim: int, lookup: Lookup | None
) -> tuple[Units, Lookup]:
    """Return this rank's share of rank 0's units, and a lookup of their parameters. Collective.

    Args:
        starts: rank r gets units starts[r] to starts[r + 1].
        lookup: None where this rank has no population.
    """
    share = np.empty((starts[comm.rank + 1] - starts[comm.rank], 2), np.int64)
    scatter_rows(comm, units, starts, share)
    if header.keys is None:
        lookup = _scatter_candidates(comm, header, units, starts, share, dim, lookup)
    assert lookup is not None
    return share, lookup


def _scatter_candidates(
    comm: Comm,
    header: Header,
    units: Units | None,
    starts: Sequence[int],
    share: Units,
    dim: int,
    lookup: Lookup | None,
) -> Lookup:
    """Send each rank the candidates it needs; shared ones go to both."""
    rows, ends = None, []
    if units is not None and lookup:
        parts = [np.unique(header.candidate(units[a:b, 0])) for a, b in pairwise(starts)]
        ends = np.cumsum([0, *map(len, parts)]).tolist()
        rows = np.empty((ends[-1], dim), header.precision)
        for place, candidate in enumerate(np.concatenate(parts).tolist()):
            rows[place] = lookup(candidate)
    candidates = np.unique(header.candidate(share[:, 0])).tolist()
    received = np.empty((len(candidates), dim), header.precision)
    scatter_rows(comm, rows, ends, received)
    places = {candidate: place for place, candidate in enumerate(candidates)}
    return lambda candidate: received[places[candidate]]


class WithHeartbeat:
    """A source that writes a heartbeat when an episode begins or ends."""

    def __init__(self, source: Source, heartbeat: Heartbeat) -> None:
        self.source, self.heartbeat = source, heartbeat
        self.running: dict[int, str] = {}

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        episode = self.source.take(block)
        if episode is not None:
            self.running[episode.unit] = f"candidate {episode.candidate}, episode seed {episode.seed}"
            self._write()
        return episode

    def done(self, unit: int, length: int) -> None:
        """Note a finished episode."""
        del self.running[unit]
        self._write()
        self.source.done(unit, length)

    def poll(self) -> None:
        """Handle urgent requests."""
        self.source.poll()

    def _write(self) -> None:
        self.heartbeat.write("; ".join(self.running.values()))


class StopsAtRankLoss:
    """A source that gives no more episodes once a rank is lost; running ones are finished."""

    def __init__(self, source: Source, comm: Comm) -> None:
        self.source, self.comm = source, comm
        self.lost: RankLost | None = None

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        try:
            with losses(self.comm):
                return None if self.lost else self.source.take(block)
        except RankLost as lost:
            self.lost = lost
            return None

    def done(self, unit: int, length: int) -> None:
        """Note a finished episode."""
        self.source.done(unit, length)

    def poll(self) -> None:
        """Handle urgent requests."""
        try:
            with losses(self.comm):
                if not self.lost:
                    self.source.poll()
        except RankLost as lost:
            self.lost = lost
