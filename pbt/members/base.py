"""The interface of a member of a population."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mpi_es import seeds
from mpi_es.arrays import Candidate
from mpi_es.config.run import Config as RunConfig
from mpi_es.errors import expected, one_line, warn
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.seeds import Stream
from mpi_es.strategies.low_rank import Factored
from pbt.config import Config
from pbt.explore import Hyperparameter
from pbt.packing import State

Values = dict[str, float]


class Diverged(Exception):
    """A member cannot train on, for example since its weights are NaN: it scores NaN and copies another."""


@dataclass(frozen=True)
class Score:
    """Returns and lengths (episodes,) of the episodes that a member played, in float64."""

    returns: NDArray[np.float64]
    lengths: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Convert lists and other numbers, whose sums would depend on the number of ranks."""
        object.__setattr__(self, "returns", np.asarray(self.returns, float))
        object.__setattr__(self, "lengths", np.asarray(self.lengths, float))


@dataclass(frozen=True)
class Player:
    """What shows a member in an episode: a policy, and the environment of a config of mpi_es."""

    config: RunConfig
    policy: Any  # of the Policy that a rollout uses
    parameters: Candidate | Factored  # as the policy takes a candidate
    terms: EpisodeRules


class Member(ABC):
    """One agent of a population.

    All its random numbers come from `self.rng()`, the environments' seeds included, and only its state lasts
    from one generation to the next. That makes a run independent of ranks and interruptions.
    """

    collective: ClassVar[bool] = False  # whether several ranks train one member together
    unused: ClassVar[Sequence[str]] = ()  # fields of the config that have no effect on such members
    options: ClassVar[Mapping[str, str]] = {}  # names in --member-options of hyperparameters, if they differ
    hyperparameters: Values  # for training; may be a property whose setter applies them

    def __init__(self, config: Config, index: int, comm: Comm, stop: StopFlag) -> None:
        """Set the attributes; a subclass then makes its initial state.

        Args:
            comm: the ranks that hold this member, one unless it is collective.
            stop: true after a signal; `train` may then raise Stopped.
        """
        self.config, self.index, self.comm, self.stop = config, index, comm, stop
        self.generation = 0  # 0 in the constructor; the first one trained is 1

    def rng(self, stream: Stream = Stream.MEMBER) -> np.random.Generator:
        """Return this member's random generator for the generation, fresh at each call."""
        return seeds.rng(self.config.seed, stream, self.generation, self.index)

    def in_effect(self) -> Values:
        """Return the hyperparameters of the training before, read from the learner itself.

        The population compares them with those that it set. A member overrides this if its learner has a copy
        of a value; of copies that differ it returns one that was not set.
        """
        return self.hyperparameters

    @classmethod
    @abstractmethod
    def declared(cls, config: Config) -> Sequence[Hyperparameter]:
        """Return all that can be tuned. Raise UserError for a config that no member can have."""

    @classmethod  # noqa: B027  (most members compile nothing)
    def compile(cls, config: Config) -> None:
        """Compile the machine code that the members run, if there is any."""

    def initial(self, space: Sequence[Hyperparameter]) -> Values:
        """Return the initial values of the hyperparameters."""
        rng = self.rng(Stream.EXPLORE)
        return {one.name: one.sample(rng) for one in space}

    @abstractmethod
    def train(self, steps: int) -> None:
        """Train for this number of steps."""

    @abstractmethod
    def score(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return the score of one episode per seed, without learning from it."""

    def evaluate(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return the score of one held-out episode per seed."""
        return self.score(episode_seeds)

    def player(self) -> Player:
        """Return what shows the member in a held-out episode. Raise UserError if it plays no environment."""
        rule = "to be left out, since these members play no environment that renders"
        raise expected("--video, --frames and --render", rule, self.config.member)

    @abstractmethod
    def get_state(self) -> State:
        """Return all that training continues from, except the hyperparameters."""

    @abstractmethod
    def set_state(self, state: State) -> None:
        """Continue from this state."""

    def adopt(self, state: State) -> None:
        """Copy the state of a stronger member; a subclass may take over a part of it only."""
        self.set_state(state)

    def close(self) -> None:  # noqa: B027  (most members hold nothing open)
        """Close what the member holds open; it is called however the run ended."""


def close(member: Member) -> None:
    """Let a member close what it holds open; what it raises is a warning, since the work is done."""
    try:
        member.close()
    except Exception as error:
        warn(f"member {member.index} cannot be closed: {one_line(error)}")
