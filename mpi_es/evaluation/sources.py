"""Sources of a rank's episodes: a fixed share, and wrappers around any source."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from mpi_es.evaluation.messages import EpisodeIds, Header
from mpi_es.evaluation.rollout import Episode, Lookup, Source
from mpi_es.parallel.collectives import Comm, offsets, scatter_rows
from mpi_es.parallel.rank_loss import RankLost, losses
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.parallel.watch import Heartbeat
from mpi_es.run_file.records import EvaluationProgress


class StaticSource(Source):
    """Episodes that are known beforehand, such as a rank's fixed share."""

    def __init__(
        self,
        episodes: Iterable[Episode],
        stop: StopFlag | None = None,
        progress: EvaluationProgress | None = None,
    ) -> None:
        self.episodes, self.stop = iter(episodes), stop
        self.progress = progress or EvaluationProgress()

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        return next(self.episodes, None)

    def done(self, episode_id: int, length: int) -> None:
        """Count a finished episode."""
        self.progress.add()


def static_source(
    comm: Comm,
    header: Header,
    episode_ids: EpisodeIds | None,
    dim: int,
    lookup: Lookup | None,
    stop: StopFlag,
    progress: EvaluationProgress,
) -> StaticSource:
    """Scatter rank 0's episodes and the rows of a dense population; return this rank's source. Collective.

    Args:
        lookup: None if this rank has no population.
    """
    starts = offsets(header.unplayed, comm.size, header.first_evaluating_rank)
    share, lookup = scatter_episodes(comm, header, episode_ids, starts, dim, lookup)
    partly = len(share) < header.unplayed
    progress.begin(len(share), 0, held_out=header.rules.held_out, share=partly)
    return StaticSource((header.episode(episode_id, lookup) for episode_id in share.tolist()), stop, progress)


def scatter_episodes(
    comm: Comm,
    header: Header,
    episode_ids: EpisodeIds | None,
    starts: Sequence[int],
    dim: int,
    lookup: Lookup | None,
) -> tuple[EpisodeIds, Lookup]:
    """Return this rank's share of rank 0's episodes, and a lookup of their parameters. Collective.

    Args:
        starts: rank r gets episodes starts[r] to starts[r + 1].
        lookup: None if this rank has no population.
    """
    share = np.empty(starts[comm.rank + 1] - starts[comm.rank], np.int64)
    scatter_rows(comm, episode_ids, starts, share)
    if header.keys is None:
        lookup = _scatter_candidates(comm, header, episode_ids, starts, share, dim, lookup)
    assert lookup is not None
    return share, lookup


def _scatter_candidates(
    comm: Comm,
    header: Header,
    episode_ids: EpisodeIds | None,
    starts: Sequence[int],
    share: EpisodeIds,
    dim: int,
    lookup: Lookup | None,
) -> Lookup:
    """Send each rank the candidates it needs; shared ones go to both."""
    rows, ends = None, []
    if episode_ids is not None and lookup:
        parts = [np.unique(header.candidate(episode_ids[a:b])) for a, b in pairwise(starts)]
        ends = np.cumsum([0, *map(len, parts)]).tolist()
        rows = np.empty((ends[-1], dim), header.precision)
        for place, candidate in enumerate(np.concatenate(parts).tolist()):
            rows[place] = lookup(candidate)
    candidates = np.unique(header.candidate(share)).tolist()
    received = np.empty((len(candidates), dim), header.precision)
    scatter_rows(comm, rows, ends, received)
    return dict(zip(candidates, received, strict=True)).__getitem__


class WithHeartbeat(Source):
    """A source that writes a heartbeat when an episode begins or ends."""

    def __init__(self, source: Source, heartbeat: Heartbeat) -> None:
        self.source, self.heartbeat = source, heartbeat
        self.running: dict[int, str] = {}

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        episode = self.source.take(block)
        if episode is not None:
            self.running[episode.episode_id] = f"candidate {episode.candidate}, episode seed {episode.seed}"
            self._write()
        return episode

    def done(self, episode_id: int, length: int) -> None:
        """Note a finished episode."""
        del self.running[episode_id]
        self._write()
        self.source.done(episode_id, length)

    def poll(self) -> None:
        """Handle urgent requests."""
        self.source.poll()

    def _write(self) -> None:
        self.heartbeat.write("; ".join(self.running.values()))


class StopsAtRankLoss(Source):
    """A source that gives no more episodes once a rank is lost; running ones are finished."""

    def __init__(self, source: Source, comm: Comm) -> None:
        self.source, self.comm = source, comm

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        try:
            with losses(self.comm):
                return None if self.lost else self.source.take(block)
        except RankLost as lost:
            self.lost = lost
            return None

    def done(self, episode_id: int, length: int) -> None:
        """Note a finished episode."""
        self.source.done(episode_id, length)

    def poll(self) -> None:
        """Handle urgent requests."""
        try:
            with losses(self.comm):
                if not self.lost:
                    self.source.poll()
        except RankLost as lost:
            self.lost = lost
