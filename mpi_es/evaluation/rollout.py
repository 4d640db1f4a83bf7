"""What all rollouts share, which play the episodes of a process: the episode, its rules, and their source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.rank_groups import Failure, RankGroups, Work
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.policies.base import Policy, Weights
from mpi_es.strategies.low_rank import Factored

Lookup = Callable[[int], Candidate | Vector | Factored]  # from a candidate to its parameters
# Of an episode: its id, return, length, then the constraints of a function or the statistics of observations.
Rows = NDArray[np.float64]
CAP = 10_000  # steps of an episode for which neither the environment nor the config has a limit


class Episode(NamedTuple):
    """One candidate on one episode seed."""

    episode_id: int
    candidate: int
    seed: int
    parameters: Any  # (dim,), or Factored where the policy takes factors
    number: int = 0  # among those of its candidate


@dataclass(frozen=True)
class EpisodeRules:
    """What all episodes of one evaluation have in common; it travels to all ranks."""

    cap: int = 0  # steps; 0 is no cap
    normalisation: Vector | None = None  # (2, size) of the observations' normalisation
    action_noise: float = 0.0
    collect: bool = False  # sum up the observations
    early_stop: int = 0  # actions in a row of negative reward that an episode survives; 0 is no such rule
    clip: tuple[float, float] | None = None  # lower and upper bound of an action's reward
    held_out: bool = False  # in the held-out environment
    first_candidate: int = 0  # the number of candidate 0 in its generation, for random draws
    generation: int = 0  # the first is 1


def unpacked(policy: Policy, candidates: Sequence[Any]) -> Weights:
    """Return candidates, all of them parameters (dim,) or all Factored, as the policy computes with them."""
    if isinstance(candidates[0], Factored):
        return policy.unpack_factors(candidates[0].centre, np.stack([one.numbers for one in candidates]))
    return policy.unpack(np.stack(candidates).astype(np.float32, copy=False))


def columns(terms: EpisodeRules, size: int, constraints: int = 0) -> int:
    """Return the columns of Rows, where an observation has this size and a function so many constraints."""
    return 3 + constraints + (1 + 2 * size if terms.collect else 0)


def shortest(*limits: int) -> int:
    """Return the smallest limit of an episode's steps, of which 0 is none."""
    return min((limit for limit in limits if limit), default=0)


class Source:
    """Where a process gets its episodes from; this one has none."""

    stop: StopFlag | None = None
    waited = 0.0  # seconds, for answers of other ranks

    def take(self, block: bool) -> Episode | None:
        """Return the next episode, or None: there is none (now, unless `block`: none at all)."""
        return None

    def done(self, episode_id: int, length: int) -> None:
        """Take note of how many steps an episode took that is over."""

    def poll(self) -> None:
        """Do what cannot wait until the episodes are over; raise Stopped to end them."""
        if self.stop:
            raise Stopped

    def close(self, *, complete: bool) -> None:
        """Serve or tell the ranks that wait for this one.

        Args:
            complete: all of this rank's episodes are over.
        """

    def halt(self) -> None:
        """End the thread, if there is one."""


class AnyRollout:
    """Plays episodes: in environments, in compiled code, or as calls of a function."""

    policy: Any
    spaces: tuple[Any, Any]  # of observations and actions
    parameter_precision = "f4"  # of the candidates that it takes, as numpy names it
    exact = False  # what an episode returns does not depend on its seed
    size = 0  # of an observation that may be normalised
    constraints = 0  # numbers that a call of a function returns next to its value
    width: int  # episodes side by side, at most
    steps_together = False  # one call steps many of them
    limit: int  # steps of an episode; 0 is none
    unused: dict[str, str]  # fields of a config that have no effect here, each with the reason
    groups = RankGroups(0)  # each rank plays its episodes by itself
    failure = ""  # of this evaluation's first call that failed in this process and did not end the run

    def compile(self) -> None:
        """Have all machine code ready: from the cache, or compiled now."""

    def whole(self, cap: int, normalisation: Vector | None) -> EpisodeRules:
        """Return the terms of episodes that are undisturbed, and whole where the environment ends them.

        Args:
            cap: the steps of an episode whose environment names no limit and might never end.
        """
        return EpisodeRules(0 if self.limit else cap or CAP, normalisation)

    def training_cap(self, cap: int) -> int:
        """Return the cap of training episodes: the config's, or one where the environment has no limit."""
        return cap or (0 if self.limit else CAP)

    def run(self, source: Source, terms: EpisodeRules, width: int | None = None) -> Rows:
        """Return the rows of all episodes that the source gives."""
        raise NotImplementedError

    def attempt(self, comm: Comm, work: Work) -> tuple[Any, Failure | None]:
        """Do this rank's part of an episode that its group plays."""
        raise NotImplementedError

    def close(self) -> None:
        """Close what it holds."""
