"""The records of a run and of its generations: the loop makes them, run.h5 and all sinks store them."""

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.config.fields import Range
from mpi_es.run_file.observations import COUNTS, ObservationStatistics
from mpi_es.run_file.scores import deviation


@dataclass(frozen=True)
class Row:
    """The exact numbers of a generation. Names are those in /history, marks are TensorBoard's tags."""

    generation: int  # the first is 1
    best: Annotated[float, "fitness/best"]
    mean: Annotated[float, "fitness/mean"]
    min: Annotated[float, "fitness/min"]
    std: Annotated[float, "fitness/std"]
    sigma: Annotated[float, "sigma"]
    fitness_of_centre: Annotated[float, "fitness/of_centre"]  # of the centre; NaN if not tracked
    rank_of_centre: Annotated[float, "rank_of_centre"]  # candidates above it; 0: none was better
    elite: Annotated[int, "elite"]  # candidates above the population's mean fitness
    episodes: Annotated[int, "generation/episodes"]  # of this generation, as are the steps
    steps: Annotated[int, "generation/steps"]
    mean_length: Annotated[float, "episode_length/mean"]
    popsize: Annotated[int, "popsize"]
    episode_cap: Annotated[int, "episode_length/cap"] = 0  # 0: none
    learning_rate: Annotated[float, "learning_rate"] = math.nan  # NaN if the strategy has none
    start: Annotated[int, "start"] = 0  # the first is 0; each restart adds 1
    agreement: Annotated[float, "agreement"] = math.nan  # rank correlation of two halves of the episodes
    failures: Annotated[int, "failures"] = 0  # calls of a function that failed
    # Of the parameter that varies most among candidates; NaN without --tolx.
    deviation: Annotated[float, "deviation"] = math.nan


@dataclass(frozen=True)
class Timing:
    """The times of a generation, in seconds unless named otherwise. The names are those in /timing."""

    ask: Annotated[float, "seconds/ask"]
    evaluate: Annotated[float, "seconds/evaluate"]
    tell: Annotated[float, "seconds/tell"]
    save: Annotated[float, "seconds/save"]
    total: Annotated[float, "seconds/total"]  # with the held-out evaluation, if there was one
    episodes_per_second: Annotated[float, "speed/episodes_per_second"]
    steps_per_second: Annotated[float, "speed/steps_per_second"]
    idle: Annotated[float, "speed/idle"]  # share of the ranks' time spent waiting


@dataclass(frozen=True)
class Feasibility:
    """How a generation's candidates meet a function's constraints. The names are those in /constraints."""

    feasible: Annotated[int, "constraints/feasible"]  # candidates that meet all
    violation: Annotated[float, "constraints/violation"]  # smallest of the candidates' sums of values above 0
    penalised: Annotated[float, "constraints/penalised"]  # the best fitness after penalties
    penalised_min: Annotated[float, "constraints/penalised_min"]  # the worst one


@dataclass(frozen=True)
class HeldOut:
    """Returns (n,) of the centre in held-out episodes, after `generation` generations."""

    generation: int
    returns: NDArray[np.float64]  # of the calls of a function that did not fail
    failures: int = 0  # of the other calls

    @property
    def calls(self) -> int:
        """The number of episodes, or calls of a function."""
        return len(self.returns) + self.failures

    @property
    def mean(self) -> float:
        """The mean return; NaN if all calls failed."""
        return float(self.returns.mean()) if len(self.returns) else math.nan


@dataclass
class Solution:
    """A centre as it is deployed, with the mean return of its held-out evaluation: /best and /last.

    For a function f(x) it may be any candidate, since one call gives its value.
    """

    generation: int = 0
    fitness: float = -math.inf
    candidate: Candidate | Vector = field(default_factory=lambda: np.zeros(0, np.float32))
    normalisation: Any = field(default_factory=lambda: np.zeros((2, 0)))  # of its observations
    observed: Annotated[float, Range(0, COUNTS.high)] = 0.0  # number of observations behind the normalisation


@dataclass
class Progress:
    """The progress of a run, apart from its strategy's state and its history: /progress."""

    generation: int = 0  # number of completed generations
    episode_cap: int = 0  # of the next generation; 0 is none
    observations: ObservationStatistics = field(default_factory=ObservationStatistics)


@dataclass
class EvaluationProgress:
    """Progress of the running evaluation, or the last one: rank 0 counts, its console reads.

    If each rank has a fixed share of the episodes, rank 0 knows only its own.
    """

    done: int = 0  # episodes
    total: int = 0
    held_out: bool = False
    share: bool = False  # the episodes are those of rank 0 alone
    listener: Callable[[], None] | None = None  # called when episodes are over

    def begin(self, total: int, done: int, *, held_out: bool, share: bool) -> None:
        """Start counting."""
        self.total, self.done, self.held_out, self.share = total, done, held_out, share

    def add(self, episodes: int = 1) -> None:
        """Count episodes that are over."""
        self.done += episodes
        if self.listener:
            self.listener()


FITNESS = ("best", "mean", "min", "fitness_of_centre", "penalised", "penalised_min")  # fields of records
R = TypeVar("R", Row, Feasibility)


def in_users_sign(record: R, sign: float) -> R:
    """Return a record of a generation with the values that a user sees; `min` is always the worst one."""
    if sign > 0:
        return record
    # 0.0 - 0.0 has no sign
    turned = {name: 0.0 - getattr(record, name) for name in FITNESS if hasattr(record, name)}
    return replace(record, **turned)


def summarize(
    generation: int,
    fitness: NDArray[np.float64],
    lengths: NDArray[np.integer],
    *,
    fitness_of_centre: float = math.nan,
    **known: float,
) -> Row:
    """Return the row of a generation, from the fitness of its candidates and its episode lengths.

    Args:
        known: the other fields of the row; popsize includes the candidates whose calls failed.
    """
    above = float((fitness > fitness_of_centre).sum())
    with np.errstate(over="ignore", invalid="ignore"):  # of values near the largest that there are
        mean, std = float(fitness.mean()), float(fitness.std())
    return Row(
        generation=generation,
        best=float(fitness.max()),
        mean=mean,
        min=float(fitness.min()),
        std=std,
        fitness_of_centre=fitness_of_centre,
        rank_of_centre=math.nan if math.isnan(fitness_of_centre) else above,
        elite=int((fitness > mean).sum()),
        episodes=lengths.size,
        steps=int(lengths.sum()),
        mean_length=float(lengths.sum() / lengths.size),
        **known,  # type: ignore[arg-type]  # some are whole
    )


def scalars(record: Row | Timing | Feasibility | HeldOut) -> Iterator[tuple[str, float]]:
    """Yield a record's tags and values for TensorBoard, without unknown values."""
    if isinstance(record, HeldOut):
        returns = record.returns
        if not len(returns):
            return
        yield "held_out/mean", record.mean
        if not math.isnan(spread := deviation(returns)):
            yield "held_out/std", spread
        yield "held_out/min", float(returns.min())
        yield "held_out/max", float(returns.max())
        return
    kind: Any = type(record)
    for name, tag in _tags(kind).items():
        value = float(getattr(record, name))
        if not math.isnan(value):
            yield tag, value


@functools.cache
def _tags(record: Any) -> dict[str, str]:
    """Return the tags of a record's fields, by the fields' names."""
    hints = get_type_hints(record, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}
