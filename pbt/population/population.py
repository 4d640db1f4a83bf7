"""The members that this rank holds, or that its group of ranks trains together."""

import math
import socket
import traceback
from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mpi_es import seeds
from mpi_es.errors import RolloutError, UserError, expected, one_line
from mpi_es.jit.warm_up import prepare
from mpi_es.parallel.collective_errors import all_or_raise
from mpi_es.parallel.collectives import Comm, offsets, split
from mpi_es.parallel.rank_loss import RankLost
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.seeds import FIRST_HELD_OUT_SEED, Stream
from pbt.config import Config
from pbt.explore import Hyperparameter, check_in_effect
from pbt.members import find
from pbt.members.base import Diverged, Member, Score, Values, close
from pbt.packing import Buffer, pack, unpack
from pbt.population.exchange import Buffers
from pbt.schema import set_state

T = TypeVar("T")


class MemberFailed(RolloutError):
    """A member raised an exception; the text has its rank, its index and the traceback."""


ENDINGS = (Diverged, Stopped, MemberFailed)  # of a member's work, from the mildest to the worst


class Population:
    """This rank's members; `owners[i]` is the rank that holds member i. The constructor is collective."""

    def __init__(
        self, config: Config, space: Sequence[Hyperparameter], comm: Comm, stop: StopFlag | None = None
    ) -> None:
        self.config, self.space, self.comm = config, space, comm
        self.stop = StopFlag() if stop is None else stop
        member_class = find(config)
        prepare(comm, partial(member_class.compile, config))
        groups = comm.size
        if member_class.collective:
            groups = max(1, min(comm.size // config.ranks_per_member, config.num_agents))
        starts = np.array(offsets(comm.size, groups))  # the first rank of each group leads it
        group = int(np.searchsorted(starts, comm.rank, side="right")) - 1
        shares = offsets(config.num_agents, groups)
        self.owners: list[int] = np.repeat(starts[:-1], np.diff(shares)).tolist()
        self.mine = range(shares[group], shares[group + 1])
        self.leads = comm.rank == starts[group]
        single = groups == comm.size  # each group is one rank
        self.idle = comm.size - len(set(self.owners)) if single else 0  # ranks without a member
        colour = comm.rank if single else group
        self.group = split(comm, lambda: comm.Split(colour)) if comm.size > 1 else comm
        self.members = all_or_raise(comm, partial(self._make, member_class), (UserError, MemberFailed))
        self.applied: dict[int, Values] = {}  # the hyperparameters that each member trains with

    def _make(self, member_class: type[Member]) -> dict[int, Member]:
        """Return this rank's members; a wrong option raises UserError, any other exception MemberFailed."""
        members = {}
        for index in self.mine:
            make = partial(member_class, self.config, index, self.group, self.stop)
            members[index] = self._guarded(index, make, (UserError,))
        return members

    def close(self) -> None:
        """Let each member close what it holds open."""
        for member in self.members.values():
            close(member)

    @property
    def names(self) -> list[str]:
        """The names of the tuned hyperparameters."""
        return [one.name for one in self.space]

    @property
    def counts(self) -> list[int]:
        """The number of members on each rank."""
        return [self.owners.count(rank) for rank in range(self.comm.size)]

    def initial(self) -> NDArray[np.float64]:
        """Return the initial hyperparameters (mine, space) of this rank's members."""
        rows = [self._guarded(index, partial(self._initial, one)) for index, one in self.members.items()]
        return np.array(rows, float).reshape(len(rows), len(self.space))

    def _initial(self, member: Member) -> list[float]:
        values = member.initial(self.space)
        for name in self.names:
            value = values.get(name)
            if not isinstance(value, int | float | np.number) or not math.isfinite(value):
                raise expected(name, "a finite initial value", value)
        return [values[name] for name in self.names]

    def apply(self, hyperparameters: NDArray[np.float64]) -> None:
        """Set each member's hyperparameters to its row of the population's (num_agents, space)."""
        for index, member in self.members.items():
            values = dict(zip(self.names, hyperparameters[index].tolist(), strict=True))
            self.applied[index] = values
            self._guarded(index, partial(setattr, member, "hyperparameters", dict(values)))

    def train(self, generation: int) -> NDArray[np.float64]:
        """Return score and mean episode length (mine, 2) of this rank's members; generations count from 1."""
        if not self.members:
            self._check_stop()
        rows = [self._train_and_score(index, generation) for index in self.members]
        return np.array(rows if self.leads else [], float).reshape(-1, 2)

    def _train_and_score(self, index: int, generation: int) -> tuple[float, float]:
        """Return mean score and mean episode length of a member after its training; NaN if it diverged."""
        self._in_group(index, self._check_stop)
        member = self.members[index]
        member.generation = generation
        episode_seeds = score_seeds(self.config, generation)

        def check() -> None:
            if self.leads:  # only the first rank of a group may have the learner
                check_in_effect(self.applied[index], member.in_effect())

        def score() -> Score:
            return self._checked(member.score(episode_seeds), len(episode_seeds))

        try:
            self._in_group(index, partial(member.train, self.config.steps))
            self._in_group(index, check)  # before the group plays together
            result = self._in_group(index, score)
        except Diverged:
            return np.nan, np.nan
        if not self.leads or not np.isfinite(result.returns).all():  # only the rank that leads has the score
            return np.nan, np.nan
        return float(result.returns.mean()), float(result.lengths.mean())

    def _in_group(self, index: int, work: Callable[[], T]) -> T:
        """Return the result of `work`; if it raises on one rank of the group, raise on all of them."""
        return all_or_raise(self.group, lambda: self._stoppable(index, work), ENDINGS)

    def _stoppable(self, index: int, work: Callable[[], T]) -> T:
        """Return the result of `work`. A failure after a signal is a stop: the signal may also have ended a
        program that the member had started.
        """
        try:
            return self._guarded(index, work, (Diverged,))
        except MemberFailed:
            self._check_stop()
            raise

    def _check_stop(self) -> None:
        if self.stop:
            raise Stopped

    def _checked(self, score: Score, episodes: int) -> Score:
        """Return a member's score, or refuse anything else, or one of another number of episodes."""
        if not isinstance(score, Score):
            raise expected("score", "a pbt.Score", score)
        shapes = score.returns.shape, score.lengths.shape
        if self.leads and shapes != ((episodes,), (episodes,)):
            raise expected("score", f"returns and lengths ({episodes},)", shapes)
        return score

    def evaluate(self, index: int, episode_seeds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return a member's held-out returns (episodes, 1) on the rank that holds it, no rows on others."""
        if index not in self.members:
            return np.zeros((0, 1))
        member, episodes = self.members[index], len(episode_seeds)

        def evaluate() -> Score:
            try:
                score = self._checked(member.evaluate(episode_seeds), episodes)
            except Diverged as error:
                later = "--eval-every 0 evaluates after the last generation only"
                hint = later if self.config.eval_every else "a larger --max-iter trains on"
                raise UserError(
                    f"expected a finite held-out score, got none: the member diverged; {hint}"
                ) from error
            if self.leads and not (finite := np.isfinite(score.returns)).all():
                raise expected("evaluate", "finite held-out returns", float(score.returns[~finite][0]))
            return score

        score = self._stoppable(index, evaluate)
        return score.returns[:, None] if self.leads else np.zeros((0, 1))

    def buffers(self, wanted: Container[int] | None = None) -> Buffers:
        """Return the states of this rank's members, or only of the wanted ones."""
        if not self.leads:
            return {}
        chosen = self.mine if wanted is None else [index for index in self.mine if index in wanted]
        return {index: self._guarded(index, partial(self._pack, self.members[index])) for index in chosen}

    def _pack(self, member: Member) -> Buffer:
        return pack(member.get_state())

    def restore(self, buffers: Buffers, generation: int) -> None:
        """Set each member's state, which it had after a generation."""
        for member in self.members.values():
            member.generation = generation
        for index, buffer in buffers.items():
            self._guarded(index, partial(set_state, self.members[index], unpack(buffer)))

    def adopt(self, source: Sequence[int], buffers: Buffers) -> None:
        """Give the state of its source to each member that copies."""
        for index, member in self.members.items():
            if self.leads and source[index] != index:
                self._guarded(index, partial(member.adopt, unpack(buffers[source[index]])))

    def _guarded(self, index: int, work: Callable[[], T], passed: tuple[type[Exception], ...] = ()) -> T:
        """Return the result of `work`, or raise MemberFailed with rank and member.

        Args:
            passed: exceptions that are raised unchanged, like Stopped and RankLost.
        """
        try:
            return work()
        except (Stopped, RankLost):
            raise
        except passed:
            raise
        except BaseException as error:  # uncaught, it would make the other ranks wait for ever
            where = f"rank {self.comm.rank} on {socket.gethostname()}: member {index}"
            known = isinstance(error, UserError)
            text = str(error) if known else f"{one_line(error)}\n{traceback.format_exc().rstrip()}"
            raise MemberFailed(f"{where}: {text}") from error


def score_seeds(config: Config, generation: int) -> NDArray[np.int64]:
    """Return the episode seeds (num_rollouts,) on which all members of a generation are scored."""
    rng = seeds.rng(config.seed, Stream.SCORE, generation)
    return rng.integers(0, FIRST_HELD_OUT_SEED, size=config.num_rollouts)
