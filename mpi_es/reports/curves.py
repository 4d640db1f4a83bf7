"""The data of a report: the histories of runs along three axes, grouped by config."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.config.declared import shown
from mpi_es.config.fields import option
from mpi_es.config.parts import changeable, flat
from mpi_es.config.run import Config
from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint, description
from mpi_es.run_file.history import History
from mpi_es.run_file.records import FITNESS, HeldOut

AXES = ("generations", "steps", "seconds")
_LONGEST_LABEL = 40  # characters that fit into a legend
_LARGEST = 1e200  # value that is drawn: larger ones are penalties, and the ends of an axis would overflow


@dataclass(frozen=True)
class Words:
    """The words of a report for episodes and returns; for functions, calls and values."""

    steps: str = "environment steps"  # of the training
    value: str = "return of an episode"
    mean: str = "return, population mean"
    held_out: str = "held-out return, mean"
    best: str = "best held-out return"
    last: str = "last held-out return"


_OF_FUNCTIONS = Words(
    "calls",
    "value",
    "value, population mean",
    "value of the centre",
    "best value",
    "last value of the centre",
)


@dataclass(frozen=True, eq=False)
class Curves:
    """A run, as its file has it now."""

    directory: Path
    config: Config
    content: dict[str, Any]  # of run.h5
    warning: str
    past: History = field(repr=False)

    @property
    def evaluations(self) -> list[HeldOut]:
        """The held-out evaluations."""
        return self.past.evaluations

    @cached_property
    def options(self) -> dict[str, Any]:
        """The values of all options, also of a user's strategy."""
        return flat(self.config) | description.own_options(self.config, self.content["config"])

    @cached_property
    def axes(self) -> dict[str, Vector]:
        """The totals of each axis, (n + 1,): 0 at first, then the sum after each generation."""
        spent = (self.history["steps"], self.content["timing"]["total"])
        totals = [np.concatenate([[0.0], np.cumsum(costs)]) for costs in spent]
        return dict(zip(AXES, [np.arange(len(totals[0]), dtype=float), *totals], strict=True))

    @property
    def history(self) -> dict[str, Any]:
        """The columns (n,) of the generations."""
        columns: dict[str, Any] = self.content["history"]
        return columns

    def line(self, axis: str, quantity: str) -> tuple[Vector, Vector]:
        """Return x and y of a column of the history or the times, or of the held-out mean,
        where y can be drawn.
        """
        if quantity == "held_out":
            after = np.array([held.generation for held in self.evaluations], int)
            values = self.config.sign * np.array([held.mean for held in self.evaluations], float)
        elif quantity == "best_so_far":
            after, values = self.history["generation"], np.fmax.accumulate(self.history["best"])
            values = self.config.sign * values
        else:
            column = self.history if quantity in self.history else self.content["timing"]
            after, values = self.history["generation"], column[quantity]
            values = self.config.sign * values if quantity in FITNESS else values
        drawn = drawable(values)
        return self.axes[axis][after[drawn]], values[drawn]

    def band(self, axis: str) -> tuple[Vector, Vector, Vector]:
        """Return x, the worst and the best value of the population; NaN where one of them is not known."""
        worst, best = (self.config.sign * self.history[name] for name in ("min", "best"))
        known = np.isfinite(worst) & drawable(best)
        worst, best = (np.where(known, values, np.nan) for values in (worst, best))
        return self.axes[axis][self.history["generation"]], worst, best

    @cached_property
    def phases(self) -> dict[str, float]:
        """The seconds that each phase of the run took."""
        timing = self.content["timing"]
        seconds = {name: float(timing[name].sum()) for name in ("ask", "evaluate", "tell", "save")}
        idle = float((timing["evaluate"] * timing["idle"]).sum())
        rest = float(timing["total"].sum()) - sum(seconds.values())
        return {
            "ask": seconds["ask"],
            "evaluate": seconds["evaluate"] - idle,
            "evaluate, ranks idle": idle,
            "tell": seconds["tell"],
            "save": seconds["save"],
            "held-out evaluations and the rest": max(rest, 0.0),
        }

    @cached_property
    def best(self) -> NDArray[np.float64] | None:
        """The values (n,) of the best centre or, for a function, of the best x; None before there is one."""
        best = self.content["best"]
        if not best["candidate"].size:
            return None
        if self.exact:
            return self.config.sign * np.array([float(best["fitness"])])
        found = [held.returns for held in self.evaluations if held.generation == best["generation"]]
        return self.config.sign * found[-1] if found else None

    @property
    def exact(self) -> bool:
        """Whether one call gives a candidate's value: for functions without a seed."""
        return bool(self.content.get("problem", {}).get("exact", False))

    def first_at_target(self) -> int | None:
        """Return the first generation at which the run found its target reached; None if there is none."""
        config, past = self.config, self.past
        if config.target_fitness is None:
            return None
        target, every = config.sign * config.target_fitness, 1 if self.exact else config.eval_every
        scores = [(held.generation, past.score(held)) for held in past.due(every)]
        if self.exact:
            scores = [*zip(self.history["generation"], self.history["best"], strict=True)]
        in_a_row, last = 0, 0
        for generation, value in scores:
            in_a_row = (in_a_row + 1 if generation - last == every else 1) if value >= target else 0
            last = generation
            if in_a_row == config.target_consecutive:
                return int(generation)
        return None


@dataclass(frozen=True)
class Group:
    """Runs whose configs differ only in the seed or in options that do not affect learning."""

    label: str
    runs: list[Curves]

    def summary(self, axis: str, quantity: str) -> tuple[Vector, Vector, Vector, Vector]:
        """Return x, and there the runs' lowest, median and highest values, where all runs have values."""
        lines = [line for run in self.runs if len((line := run.line(axis, quantity))[0])]
        if not lines:
            return (np.zeros(0),) * 4
        first, last = max(x[0] for x, _ in lines), min(x[-1] for x, _ in lines)
        grid = np.unique(np.concatenate([x for x, _ in lines]))
        grid = grid[(grid >= first) & (grid <= last)]
        values = np.array([np.interp(grid, x, y) for x, y in lines])
        return grid, values.min(axis=0), np.median(values, axis=0), values.max(axis=0)


def drawable(values: Vector) -> NDArray[np.bool_]:
    """Return which values a figure can show."""
    return np.abs(values) < _LARGEST  # false for NaN


def spread(values: Sequence[float], written: Callable[[float], str]) -> str:
    """Return the median of the values, and their range if there are several."""
    if not values:
        return "-"
    middle, low, high = (written(float(f(values))) for f in (np.median, np.min, np.max))
    return f"{middle} [{low}, {high}]" if len(values) > 1 else middle


def load(directory: Path) -> Curves:
    """Return a run's curves; reading does not disturb the job that writes it."""
    content, warning = checkpoint.load_of("mpi_es.train", directory)
    if not len(content["history"]["generation"]):
        raise UserError(f"{directory}: no generation is done yet")
    config = description.config_of(Config, content["config"])
    return Curves(directory, config, content, warning, History(content))


def grouped(runs: Sequence[Curves]) -> list[Group]:
    """Return the runs in groups, in the order in which they are given."""
    groups: dict[tuple[Any, ...], list[Curves]] = {}
    for run in runs:
        groups.setdefault((_learning(run), _beginning(run)), []).append(run)
    learning = [dict(options) for options, _ in groups]
    names = dict.fromkeys(name for values in learning for name in values)
    differing = [name for name in names if len({values[name] for values in learning if name in values}) > 1]
    labels = _labels([members[0] for members in groups.values()], differing)
    return [
        Group(f"{label} ({len(members)} runs)" if len(members) > 1 else label, members)
        for label, members in zip(labels, groups.values(), strict=True)
    ]


def words(runs: Sequence[Curves]) -> Words:
    """Return the words for runs: those of functions only if all runs optimise one."""
    return _OF_FUNCTIONS if all(run.config.function for run in runs) else Words()


def _beginning(run: Curves) -> tuple[tuple[float, ...], ...]:
    """Return the start and bounds of a function's search, which a script's run does not have as options."""
    problem = run.content.get("problem", {})
    return tuple(tuple(np.ravel(problem[name]).tolist()) for name in sorted(problem))


def _learning(run: Curves) -> tuple[Any, ...]:
    """Return the options that affect learning, except the seed, with their values."""
    others = changeable(run.config) | {"seed", "run_dir"}
    return tuple((name, value) for name, value in run.options.items() if name not in others)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shown(value)


def _labels(runs: Sequence[Curves], differing: Sequence[str]) -> list[str]:
    """Return labels of runs: their differing options, or if that is too long only the values,
    or the directories.
    """
    for word, between in (("{option} {value}", " "), ("{value}", ", ")):
        labels = []
        for run in runs:
            values = run.options
            pairs = [(option(name), _short(values[name])) for name in differing if name in values]
            labels.append(between.join(word.format(option=flag, value=value) for flag, value in pairs))
        if differing and max(map(len, labels)) <= _LONGEST_LABEL and len(set(labels)) == len(labels):
            return labels
    names = [run.directory.resolve().name for run in runs]
    return names if len(set(names)) == len(names) else [str(run.directory) for run in runs]
