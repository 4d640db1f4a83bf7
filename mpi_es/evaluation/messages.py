"""The messages of one evaluation: the header that rank 0 sends to all ranks, and the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.evaluation.rollout import Episode, EpisodeRules, Lookup, Results

EpisodeIds = NDArray[np.int64]  # (n,)


@dataclass(frozen=True)
class Header:
    """What every rank knows about an evaluation. Episode k of candidate i has the id i * episodes + k."""

    evaluation_id: int  # the same when it is restarted
    seeds: NDArray[np.int64]  # (candidates, episodes)
    unplayed: int  # episodes to play: all, unless it is restarted
    rules: EpisodeRules
    dynamic: bool = False
    first_evaluating_rank: int = 0
    episodes_side_by_side: int = 1  # on a rank
    episodes_at_once: int = 1  # at most, that rank 0 hands out in dynamic dispatch
    keys: NDArray[np.int64] | None = None  # of a seeded population's noise; None for a dense one
    sigma: float = 0.0  # of a seeded population
    other_centre: bool = False  # the last candidate is a centre other than the seeded population's
    precision: str = "f4"  # in which candidates are sent, as numpy names it
    constraints: int = 0  # numbers that a function returns next to its value

    def candidate(self, episode_id: Any) -> Any:
        """Return the candidate of an episode, or those of several."""
        return episode_id // self.seeds.shape[1]

    def episode(self, episode_id: int, lookup: Lookup) -> Episode:
        """Return the episode of an id."""
        candidate, number = divmod(episode_id, self.seeds.shape[1])
        return Episode(episode_id, candidate, self.seeds.item(episode_id), lookup(candidate), number)


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation, in the order of candidates and episodes, whichever rank played them."""

    returns: Vector  # (candidates, episodes)
    lengths: NDArray[np.int64]  # (candidates, episodes)
    observations: Vector  # (candidates * episodes, 1 + 2 * size): rows of normalisation.of_episodes
    constraints: Vector  # (candidates, episodes, count) of a function
    idle: float  # share of the ranks' time spent waiting


def joined(evaluations: Sequence[Evaluation], popsize: int) -> Evaluation:
    """Concatenate evaluations of `popsize` candidates; extra rows of the first move to the end."""
    first, others = evaluations[0], evaluations[1:]
    episodes = first.returns.shape[1]

    def of_all(name: str, size: int) -> NDArray[Any]:
        head = getattr(first, name)
        return np.concatenate([head[:size], *(getattr(other, name) for other in others), head[size:]])

    return Evaluation(
        returns=of_all("returns", popsize),
        lengths=of_all("lengths", popsize),
        observations=of_all("observations", popsize * episodes),
        constraints=of_all("constraints", popsize),
        idle=float(np.average([e.idle for e in evaluations], weights=[e.lengths.sum() for e in evaluations])),
    )


def arranged(header: Header, rows: Results, idle: float) -> Evaluation:
    """Return the rows of all episodes in the shape (candidates, episodes)."""
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    assert np.array_equal(rows[:, 0], np.arange(header.seeds.size)), "every episode once"
    constraints, observations = np.split(rows[:, 3:], [header.constraints], axis=1)
    return Evaluation(
        returns=rows[:, 1].reshape(header.seeds.shape),
        lengths=rows[:, 2].astype(np.int64).reshape(header.seeds.shape),
        observations=observations,
        constraints=constraints.reshape(*header.seeds.shape, header.constraints),
        idle=max(0.0, idle),
    )
