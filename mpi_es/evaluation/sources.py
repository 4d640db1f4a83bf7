"""Where a rank's rollout gets its episodes from, and what can be put around such a source."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.evaluation.rollout import Episode, Source
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.heartbeat import Heartbeat
from mpi_es.parallel.rank_loss import RankLost, losses
from mpi_es.parallel.stop_signal import StopFlag, Stopped

Units = NDArray[np.int64]
Lookup = Callable[[int], Candidate]  # candidate -> parameters


class StaticSource:
    """A rank's share of the units, known beforehand."""

    def __init__(self, units: Units, seeds: Units, episodes: int, lookup: Lookup, stop: StopFlag) -> None:
        self.share = zip(units.tolist(), seeds.tolist(), strict=True)
        self.episodes, self.lookup, self.stop = episodes, lookup, stop
        self.waited = 0.0

    def take(self, block: bool) -> Episode | None:
        """Return the next episode of the share."""
        for unit, seed in self.share:
            candidate = unit // self.episodes
            return Episode(unit, candidate, seed, self.lookup(candidate))
        return None

    def done(self, unit: int, length: int) -> None:
        """Do nothing: the share is what it is."""

    def poll(self) -> None:
        """Give up where a signal came."""
        if self.stop:
            raise Stopped


class WithHeartbeat:
    """A source whose every episode that begins or ends is a sign of life."""

    def __init__(self, source: Source, heartbeat: Heartbeat) -> None:
        self.source, self.heartbeat = source, heartbeat
        self.under_way: dict[int, str] = {}

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        episode = self.source.take(block)
        if episode is not None:
            self.under_way[episode.unit] = f"candidate {episode.candidate}, episode seed {episode.seed}"
            self._write()
        return episode

    def done(self, unit: int, length: int) -> None:
        """Note an episode that is over."""
        del self.under_way[unit]
        self._write()
        self.source.done(unit, length)

    def poll(self) -> None:
        """Do what cannot wait."""
        self.source.poll()

    def _write(self) -> None:
        self.heartbeat.write("; ".join(self.under_way.values()))


class StopsAtRankLoss:
    """A source that has no more to give when a rank is lost: what is under way here is played to its end."""

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
        """Note an episode that is over."""
        self.source.done(unit, length)

    def poll(self) -> None:
        """Do what cannot wait."""
        try:
            with losses(self.comm):
                if not self.lost:
                    self.source.poll()
        except RankLost as lost:
            self.lost = lost
