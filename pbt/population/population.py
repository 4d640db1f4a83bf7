"""The members that live on this rank, or that its group of ranks trains together."""

import socket
import traceback
from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import UserError, expected
from mpi_es.jit.warm_up import prepare
from mpi_es.parallel.collectives import Comm, all_or_raise, offsets, split
from mpi_es.parallel.rank_loss import RankLost
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.seeds import Stream, rng
from pbt.config import Config
from pbt.explore import Hyperparameter, check_bounds
from pbt.members import find
from pbt.members.base import Diverged, Member, Score
from pbt.packing import Buffer, pack, unpack
from pbt.population.agreement import MemberFailed, together
from pbt.population.exchange import Buffers

T = TypeVar("T")
_HALF = 2**30  # episode seeds below it train and score, those above are held out (mpi_es.seeds)


class Population:
    """Members `mine` of all; `owners[i]` is the rank that holds member i. Constructing it is collective."""

    def __init__(
        self, config: Config, space: Sequence[Hyperparameter], comm: Comm, stop: StopFlag | None = None
    ) -> None:
        self.config, self.space, self.comm = config, space, comm
        self.stop = StopFlag() if stop is None else stop
        kind = find(config)
        prepare(comm, partial(kind.compile, config))
        groups = comm.size
        if kind.collective:
            groups = max(1, min(comm.size // config.ranks_per_member, config.num_agents))
        starts = np.array(offsets(comm.size, groups))  # the first rank of each group leads it
        group = int(np.searchsorted(starts, comm.rank, side="right")) - 1
        shares = offsets(config.num_agents, groups)
        self.owners: list[int] = np.repeat(starts[:-1], np.diff(shares)).tolist()
        self.mine = range(shares[group], shares[group + 1])
        self.leads = comm.rank == starts[group]
        alone = groups == comm.size
        self.idle = comm.size - len(set(self.owners)) if alone else 0  # ranks without a member
        colour = comm.rank if alone else group
        self.group = split(comm, lambda: comm.Split(colour)) if comm.size > 1 else comm
        self.members: dict[int, Member] = all_or_raise(comm, lambda: self._made(kind))

    def _made(self, kind: type[Member]) -> dict[int, Member]:
        """Return this rank's members; what is wrong with an option is everybody's, and told as it is."""
        made = {}
        for index in self.mine:
            make = partial(kind, self.config, index, self.group, self.stop)
            made[index] = self._guarded(index, make, (UserError,))
        return made

    @property
    def names(self) -> list[str]:
        """The hyperparameters that are tuned."""
        return [one.name for one in self.space]

    @property
    def counts(self) -> list[int]:
        """How many members each rank holds."""
        return [self.owners.count(rank) for rank in range(self.comm.size)]

    def initial(self) -> NDArray[np.float64]:
        """Return the hyperparameters (mine, space) that this rank's members begin with."""
        rows = [self._guarded(index, partial(self._begin, one)) for index, one in self.members.items()]
        return np.array(rows, float).reshape(len(rows), len(self.space))

    def _begin(self, member: Member) -> list[float]:
        values = member.initial(self.space)
        return [values[name] for name in self.names]

    def apply(self, hyperparameters: NDArray[np.float64]) -> None:
        """Let each member here train with its row of the population's (num_agents, space)."""
        for index, member in self.members.items():
            row = hyperparameters[index].tolist()
            self._guarded(index, partial(self._set, member, row))

    def _set(self, member: Member, row: Sequence[float]) -> None:
        member.hyperparameters = dict(zip(self.names, row, strict=True))

    def train(self, generation: int) -> NDArray[np.float64]:
        """Return score and mean episode length (mine, 2) of a generation; its first is 1."""
        rows = [self._one(index, member, generation) for index, member in self.members.items()]
        return np.array(rows if self.leads else [], float).reshape(-1, 2)

    def _one(self, index: int, member: Member, generation: int) -> tuple[float, float]:
        """Return mean score and length of a member after its training; NaN if it diverged."""
        self._step(index, self._go_on)
        member.generation = generation
        seeds, before = score_seeds(self.config, generation), self._values(member)

        def scored() -> Score:
            score = self._checked(member.score(seeds), len(seeds))
            check_bounds(self.space, before, self._values(member))
            return score

        try:
            self._step(index, partial(member.train, self.config.steps))
            score = self._step(index, scored)
        except Diverged:
            return np.nan, np.nan
        return float(score.returns.mean()), float(score.lengths.mean())

    def _step(self, index: int, work: Callable[[], T]) -> T:
        """Return what the work gives; where it ends on one rank of the group, it ends on all."""
        return together(self.group, lambda: self._guarded(index, work, (Diverged,)))

    def _go_on(self) -> None:
        if self.stop:
            raise Stopped

    def _checked(self, score: Score, episodes: int) -> Score:
        """Return a member's score, or refuse one that is not of so many episodes."""
        shapes = np.shape(score.returns), np.shape(score.lengths)
        if self.leads and shapes != ((episodes,), (episodes,)):
            raise expected("score", f"returns and lengths ({episodes},)", shapes)
        return score

    def _values(self, member: Member) -> list[float]:
        values = member.hyperparameters
        return [values[name] for name in self.names]

    def evaluate(self, index: int, seeds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return a member's returns (episodes, 1) on the rank that holds it, no rows elsewhere."""
        if index not in self.members:
            return np.zeros((0, 1))
        member = self.members[index]
        score = self._guarded(index, lambda: self._checked(member.evaluate(seeds), len(seeds)))
        return score.returns[:, None] if self.leads else np.zeros((0, 1))

    def buffers(self, wanted: Container[int] | None = None) -> Buffers:
        """Return the states of the members that this rank holds, of all or of those wanted."""
        if not self.leads:
            return {}
        chosen = self.mine if wanted is None else [index for index in self.mine if index in wanted]
        return {index: self._guarded(index, partial(self._pack, self.members[index])) for index in chosen}

    def _pack(self, member: Member) -> Buffer:
        return pack(member.get_state())

    def restore(self, buffers: Buffers) -> None:
        """Let each member go on from its state."""
        for index, buffer in buffers.items():
            self._guarded(index, partial(self._restore, self.members[index], buffer))

    def _restore(self, member: Member, buffer: Buffer) -> None:
        member.set_state(unpack(buffer))

    def adopt(self, source: Sequence[int], buffers: Buffers) -> None:
        """Let each member that copies take over what the buffer of its source gives."""
        for index, member in self.members.items():
            if self.leads and source[index] != index:
                buffer = buffers[source[index]]
                self._guarded(index, partial(self._adopt, member, buffer))

    def _adopt(self, member: Member, buffer: Buffer) -> None:
        member.adopt(unpack(buffer))

    def _guarded(self, index: int, work: Callable[[], T], passed: tuple[type[Exception], ...] = ()) -> T:
        """Return what the work gives; what it raises, but these, is told with rank and member."""
        try:
            return work()
        except (Stopped, RankLost):
            raise
        except passed:
            raise
        except BaseException as error:  # the others would wait for ever
            where = f"rank {self.comm.rank} on {socket.gethostname()}: member {index}"
            told = f"{error}" if isinstance(error, UserError) else f"\n{traceback.format_exc().rstrip()}"
            raise MemberFailed(f"{where}: {told}") from error


def score_seeds(config: Config, generation: int) -> NDArray[np.int64]:
    """Return the episode seeds (num_rollouts,) on which all members of a generation are scored."""
    return rng(config.seed, Stream.SCORE, generation).integers(0, _HALF, size=config.num_rollouts)
