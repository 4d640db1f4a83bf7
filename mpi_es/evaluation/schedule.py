"""Which episodes go out next, and how many of them to a rank."""

from collections import deque

import numpy as np

from mpi_es.evaluation.messages import EpisodeIds, Header


class Schedule:
    """The order in which episodes go out; it changes no result.

    How long an episode takes is not known beforehand, but a candidate that lasted in one tends to last in
    the next. So each candidate gets a first episode, and then the candidates with the longest episodes come
    first: what goes out last, when other ranks have nothing left to do, is short.
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
        # In steps; infinite before the first episode, minus infinite when none waits.
        self.urgency = np.where([bool(queue) for queue in self.waiting], np.inf, -np.inf)

    def next(self) -> int:
        """Return the episode that goes out next."""
        candidate = int(self.urgency.argmax())
        episode_id = self.waiting[candidate].popleft()
        self.left -= 1
        self._rank(candidate)
        return episode_id

    def note(self, episode_id: int, length: int) -> None:
        """Learn how many steps an episode took."""
        candidate = self.candidate(episode_id)
        self.over[candidate] += 1
        self.steps[candidate] += (length - self.steps[candidate]) / self.over[candidate]
        self._rank(candidate)

    def _rank(self, candidate: int) -> None:
        more = bool(self.waiting[candidate])
        self.urgency[candidate] = self.steps[candidate] if more else -np.inf


# Of what is left a rank takes at most its part over this number, so that all finish together.
SHARES_LEFT = 4


def at_once(header: Header, left: int, ranks: int) -> int:
    """Return how many episodes go to a rank at once where `left` are left.

    Many at first, one at a time in the end.
    """
    return min(left, header.episodes_at_once, max(1, left // (SHARES_LEFT * ranks)))


def are_plenty(left: int, ranks: int) -> bool:
    """Return whether so many are left that a rank should ask for more before its queue is empty."""
    return left > SHARES_LEFT * ranks


def first_shares(header: Header, ranks: int) -> list[int]:
    """Return where each rank's first share begins, and the end: ranks + 1 numbers. Rank 0 has none."""
    share = at_once(header, header.unplayed, ranks)
    return [0, *(min(rank * share, header.unplayed) for rank in range(ranks))]
