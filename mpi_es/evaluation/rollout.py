"""What all rollouts share: an episode, its rules, and the source of episodes.

A rollout plays the episodes of one process.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.rank_groups import Failure, RankGroups, Work
from mpi_es.parallel.rank_loss import RankLost
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.policies.base import Policy, Weights
from mpi_es.strategies.low_rank import Factored

Lookup = Callable[[int], Candidate | Vector | Factored]  # from a candidate to its parameters
# Of an episode: its id, return, length, then the constraints of a function or the statistics of observations.
Results = NDArray[np.float64]
CAP = 10_000  # steps of an episode, if neither the environment nor the config sets a limit


class Episode(NamedTuple):
    """One candidate on one episode seed."""

    episode_id: int
    candidate: int
    seed: int
    parameters: Any  # (dim,), or Factored if the policy takes factors
    number: int = 0  # among those of its candidate


@dataclass(frozen=True)
class EpisodeRules:
    """The rules of all episodes of one evaluation, sent to all ranks."""

    cap: int = 0  # steps; 0 is no cap
    normalisation: Vector | None = None  # (2, size) of the observations' normalisation
    action_noise: float = 0.0
    collect: bool = False  # sum up the observations
    early_stop: int = 0  # successive actions with negative rewards that do not end it; 0 is no rule
    clip: tuple[float, float] | None = None  # lower and upper bound of an action's reward
    held_out: bool = False  # whether they run in the held-out environment
    first_candidate: int = 0  # number of candidate 0 within its generation, for random draws
    generation: int = 0  # the first is 1
    saved_x: bool = False  # the candidate is the best x of the saved run, not in a strategy's units


def unpacked(policy: Policy, candidates: Sequence[Any]) -> Weights:
    """Return candidates, either all parameters (dim,) or all Factored,
    in the form that the policy computes with.
    """
    if isinstance(candidates[0], Factored):
        return policy.unpack_factors(candidates[0].centre, np.stack([one.numbers for one in candidates]))
    return policy.unpack(np.stack(candidates).astype(np.float32, copy=False))


def columns(rules: EpisodeRules, size: int, constraints: int = 0) -> int:
    """Return the number of columns of Results, given the sizes of an observation
    and of a function's constraints.
    """
    return 3 + constraints + (1 + 2 * size if rules.collect else 0)


def shortest(*limits: int) -> int:
    """Return the smallest step limit of an episode; 0 is no limit."""
    return min((limit for limit in limits if limit), default=0)


class Source:
    """Where a process gets its episodes from; this one has none."""

    stop: StopFlag | None = None
    waited = 0.0  # seconds spent waiting for other ranks
    lost: RankLost | None = None  # why it gives no more episodes, if a rank was lost

    def take(self, block: bool) -> Episode | None:
        """Return the next episode. None: no more with `block`, none at the moment without."""
        return None

    def done(self, episode_id: int, length: int) -> None:
        """Note that an episode is over, and its length in steps."""

    def poll(self) -> None:
        """Handle requests that cannot wait until the episodes are over; raise Stopped to end them."""
        if self.stop:
            raise Stopped

    def close(self, *, complete: bool) -> None:
        """Serve or notify the ranks that wait for this one.

        Args:
            complete: whether all of this rank's episodes are over.
        """

    def halt(self) -> None:
        """End the thread, if there is one."""


class Rollout:
    """Plays episodes: in environments, in compiled code, or as calls of a function."""

    policy: Any
    spaces: tuple[Any, Any]  # of observations and actions
    parameter_precision = "f4"  # of its candidates, as numpy names it
    exact = False  # the return of an episode does not depend on its seed
    size = 0  # of an observation that may be normalised
    constraints = 0  # numbers that a function returns next to its value
    width: int  # episodes side by side, at most
    steps_together = False  # one call steps many of them
    limit: int  # steps of an episode; 0 is none
    unused: dict[str, str]  # fields of a config that have no effect here, each with the reason
    groups = RankGroups(0)  # each rank plays its episodes by itself
    # Of the first failed call of this evaluation in this process, if failures do not end the run.
    failure = ""

    def compile(self) -> None:
        """Load all machine code from the cache, or compile it now."""

    def full_episode_rules(self, cap: int, normalisation: Vector | None) -> EpisodeRules:
        """Return the rules of full episodes, without noise and without a cap if the environment has a limit.

        Args:
            cap: the step limit if the environment has none.
        """
        return EpisodeRules(0 if self.limit else cap or CAP, normalisation)

    def training_cap(self, cap: int) -> int:
        """Return the cap of training episodes: the config's,
        or CAP if the environment has no limit either.
        """
        return cap or (0 if self.limit else CAP)

    def run(self, source: Source, rules: EpisodeRules, width: int | None = None) -> Results:
        """Run all episodes that the source gives, and return their rows."""
        raise NotImplementedError

    def attempt(self, comm: Comm, work: Work) -> tuple[Any, Failure | None]:
        """Do this rank's part of an episode that its group plays."""
        raise NotImplementedError

    def close(self) -> None:
        """Close environments and threads."""
