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
    """A member cannot continue training, for example since its weights are NaN:
    it scores NaN and copies another.
    """


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
    """What is needed to show a member in an episode: a policy, and an environment by a config of mpi_es."""

    config: RunConfig
    policy: Any  # a Policy, as a rollout uses it
    parameters: Candidate | Factored  # as the policy takes a candidate
    rules: EpisodeRules


class Member(ABC):
    """One agent of a population.

    All its random numbers come from `self.rng()`, the environments' seeds included, and only its state is
    kept from one generation to the next. This makes a run independent of ranks and interruptions.
    """

    collective: ClassVar[bool] = False  # whether several ranks train one member together
    unused: ClassVar[Sequence[str]] = ()  # fields of the config that have no effect on such members
    options: ClassVar[Mapping[str, Sequence[str]]] = {}  # what sets a hyperparameter, if not its name
    hyperparameters: Values  # for training; may be a property whose setter applies them

    def __init__(self, config: Config, index: int, comm: Comm, stop: StopFlag) -> None:
        """Set the attributes; a subclass then makes its initial state.

        Args:
            comm: of the ranks that hold this member, one unless it is collective.
            stop: true after a signal; `train` may then raise Stopped.
        """
        self.config, self.index, self.comm, self.stop = config, index, comm, stop
        self.generation = 0  # 0 in the constructor; the first one trained is 1

    def rng(self, stream: Stream = Stream.MEMBER) -> np.random.Generator:
        """Return this member's random generator for the generation, fresh at each call."""
        return seeds.rng(self.config.seed, stream, self.generation, self.index)

    def in_effect(self) -> Values:
        """Return the hyperparameters of the last training, read from the learner itself.

        The population compares them with those that it set. A member overrides this if its learner has copies
        of a value; if copies differ it returns one that was not set.
        """
        return self.hyperparameters

    @classmethod
    @abstractmethod
    def declared(cls, config: Config) -> Sequence[Hyperparameter]:
        """Return all hyperparameters that can be tuned. Raise UserError for an invalid config."""

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
        """Return the player of held-out episodes. Raise UserError if the member plays no environment."""
        rule = "to be left out, since these members play no environment that renders"
        raise expected("--video, --frames and --render", rule, self.config.member)

    @abstractmethod
    def get_state(self) -> State:
        """Return everything that training continues from, except the hyperparameters."""

    @abstractmethod
    def set_state(self, state: State) -> None:
        """Continue from this state."""

    def adopt(self, state: State) -> None:
        """Copy the state of a stronger member; a subclass may copy only a part of it."""
        self.set_state(state)

    def close(self) -> None:  # noqa: B027  (most members hold nothing open)
        """Close what the member holds open; called however the run ended."""


def close(member: Member) -> None:
    """Let a member close what it holds open; an exception becomes a warning, since the work is done."""
    try:
        member.close()
    except Exception as error:
        warn(f"member {member.index} cannot be closed: {one_line(error)}")
