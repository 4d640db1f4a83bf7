"""What the loop asks of a member of a population."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.seeds import Stream, rng
from pbt.config import Config
from pbt.explore import Hyperparameter
from pbt.packing import State

Values = dict[str, float]


class Diverged(Exception):
    """A member that cannot go on, as with weights that are no numbers: it scores NaN and copies another."""


@dataclass(frozen=True)
class Score:
    """Returns and lengths (episodes,) of the episodes that a member was scored on."""

    returns: NDArray[np.float64]
    lengths: NDArray[np.float64]


class Member(ABC):
    """One agent of a population.

    Every random number that it uses comes from `self.draw()`, the environments' seeds included, and nothing
    but its state lasts from one generation to the next: that is what makes a run independent of ranks and
    of interruptions.
    """

    collective: ClassVar[bool] = False  # whether several ranks train one member together
    unused: ClassVar[Sequence[str]] = ()  # fields of the config that say nothing of such a member
    options: ClassVar[Mapping[str, str]] = {}  # of --member-options by hyperparameter, where names differ
    hyperparameters: Values  # that training uses; a property where setting them does something

    def __init__(self, config: Config, index: int, comm: Comm, stop: StopFlag) -> None:
        """Keep who this is; `draw` is the construction's until the first generation sets another.

        Args:
            comm: the ranks that hold this member, one unless it is collective.
            stop: is true once a signal came; `train` may then raise Stopped.
        """
        self.config, self.index, self.comm, self.stop = config, index, comm, stop
        self.generation = 0  # the one under way counts from 1

    def draw(self, stream: Stream = Stream.MEMBER) -> np.random.Generator:
        """Return this member's generator of the generation."""
        return rng(self.config.seed, stream, self.generation, self.index)

    @classmethod
    @abstractmethod
    def declared(cls, config: Config) -> Sequence[Hyperparameter]:
        """Return all that can be tuned. Raise UserError for a config that no member can have."""

    @classmethod  # noqa: B027  (most have none)
    def compile(cls, config: Config) -> None:
        """Make the machine code that the members run, if there is any that takes long to make."""

    def initial(self, space: Sequence[Hyperparameter]) -> Values:
        """Return the values to begin with."""
        draw = self.draw(Stream.EXPLORE)
        return {one.name: one.sample(draw) for one in space}

    @abstractmethod
    def train(self, steps: int) -> None:
        """Train for so many steps."""

    @abstractmethod
    def score(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return how the member does in an episode of each seed, without learning from it."""

    def evaluate(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return how the winner does in a held-out evaluation: as in `score`, unless it says other."""
        return self.score(episode_seeds)

    @abstractmethod
    def get_state(self) -> State:
        """Return all that training goes on from, but the hyperparameters."""

    @abstractmethod
    def set_state(self, state: State) -> None:
        """Go on from a state."""

    def adopt(self, state: State) -> None:
        """Take over what a stronger member is to give: all of its state, unless a member says less."""
        self.set_state(state)
