"""An action lasts several steps of the environment, which count as one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.lockstep.base import EnvBatch, EpisodeFailed, Places


def repeated(batch: EnvBatch, count: int) -> EnvBatch:
    """Return environments in which an action lasts `count` steps."""
    return batch if count == 1 else Repeated(batch, count)


class Repeated:
    """Repeats each action until the episode is over: rewards are added, the last observation is seen."""

    def __init__(self, batch: EnvBatch, count: int) -> None:
        self._batch, self._count = batch, count
        self.observation_space, self.action_space = batch.observation_space, batch.action_space
        self.limit = -(-batch.limit // count)
        self.begins_together = batch.begins_together
        self._rest = batch.limit % count  # what the limit leaves for the last action; 0: as for all others
        self._acted: dict[int, int] = {}  # actions in each place, where that matters

    def begin(self, seeds: Sequence[int]) -> tuple[Places, NDArray[Any]]:
        """Begin an episode for each seed."""
        places, observations = self._batch.begin(seeds)
        if self._rest:
            self._acted |= dict.fromkeys(places.tolist(), 0)
        return places, observations

    def step(
        self, places: Places, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Repeat the actions of these episodes, of each until it is over or at its limit."""
        counts = self._counts(places)
        observations, rewards, over = self._batch.step(places, actions)
        for done in range(1, self._count):
            rows = np.flatnonzero(~over & (counts > done))
            if not len(rows):
                break
            try:
                newest, more, ended = self._batch.step(places[rows], actions[rows])
            except EpisodeFailed as error:
                raise EpisodeFailed(int(rows[error.index])) from error.__cause__
            observations[rows] = newest
            rewards[rows] += more
            over[rows] = ended
        return observations, rewards, over

    def _counts(self, places: Places) -> NDArray[np.int64]:
        """Return how often the next action of these episodes is repeated, and count it."""
        counts = np.full(len(places), self._count)
        if self._rest:
            for row, place in enumerate(places.tolist()):
                self._acted[place] += 1
                if self._acted[place] == self.limit:
                    counts[row] = self._rest
        return counts

    def end(self, places: Places) -> None:
        """Free the places of episodes that are over or cut."""
        for place in places.tolist():
            self._acted.pop(place, None)
        self._batch.end(places)

    def clear(self) -> None:
        """Free all places."""
        self._acted = {}
        self._batch.clear()

    def compile(self) -> None:
        """Have all machine code ready."""
        self._batch.compile()

    def close(self) -> None:
        """Close the environments."""
        self._batch.close()
