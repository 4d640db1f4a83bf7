"""Which episodes are dispatched next, and how many of them to a rank."""

import heapq
import math
from collections import deque

from mpi_es.evaluation.messages import EpisodeIds, Header


class Schedule:
    """The order in which episodes are dispatched; it changes no result.

    The length of an episode is not known beforehand, but a candidate with a long episode tends to have
    another. So each candidate gets a first episode, then those with the longest episodes come first: the last
    episodes, during which other ranks are idle, are short.
    """

    def __init__(self, header: Header, episode_ids: EpisodeIds) -> None:
        self.candidate = header.candidate
        self.left = len(episode_ids)
        candidates = len(header.seeds)
        self.waiting: list[deque[int]] = [deque() for _ in range(candidates)]
        for episode_id in episode_ids.tolist():
            self.waiting[self.candidate(episode_id)].append(episode_id)
        self.over = [0] * candidates
        self.steps = [0.0] * candidates  # mean length of the episodes that are over
        # Minus the steps; minus infinity before the first episode.
        self.urgency = [-math.inf] * candidates
        # A heap of (urgency, candidate), the next one first; entries whose urgency has changed are skipped.
        self.order = [(-math.inf, candidate) for candidate in range(candidates) if self.waiting[candidate]]

    def next(self) -> int:
        """Return the next episode to dispatch."""
        urgency, candidate = heapq.heappop(self.order)
        while not self.waiting[candidate] or urgency != self.urgency[candidate]:
            urgency, candidate = heapq.heappop(self.order)
        episode_id = self.waiting[candidate].popleft()
        self.left -= 1
        self._update_urgency(candidate)
        return episode_id

    def note(self, episode_id: int, length: int) -> None:
        """Note how many steps an episode took."""
        candidate = self.candidate(episode_id)
        self.over[candidate] += 1
        self.steps[candidate] += (length - self.steps[candidate]) / self.over[candidate]
        self._update_urgency(candidate)

    def _update_urgency(self, candidate: int) -> None:
        if self.waiting[candidate]:
            self.urgency[candidate] = -self.steps[candidate]
            heapq.heappush(self.order, (self.urgency[candidate], candidate))


# A rank takes at most its share of the remaining episodes over this number, so that all finish together.
SHARES_LEFT = 4


def at_once(header: Header, left: int, ranks: int) -> int:
    """Return how many of `left` episodes go to a rank at once: many at first, one at the end."""
    return min(left, header.episodes_at_once, max(1, left // (SHARES_LEFT * ranks)))


def are_plenty(left: int, ranks: int) -> bool:
    """Return whether enough episodes remain that a rank should ask for more before its queue is empty."""
    return left > SHARES_LEFT * ranks


def first_shares(header: Header, ranks: int) -> list[int]:
    """Return where each rank's first share begins, and the end: ranks + 1 numbers. Rank 0 has none."""
    share = at_once(header, header.unplayed, ranks)
    return [0, *(min(rank * share, header.unplayed) for rank in range(ranks))]
