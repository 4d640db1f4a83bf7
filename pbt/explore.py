"""Hyperparameters, their ranges and scales, and how exploration changes them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import expected, unknown

_FACTORS = (0.8, 1.2)  # the paper's (arXiv:1711.09846)
_TAKEN = {"score", "episode_length", "copied"}  # what else telemetry has for each member


@dataclass(frozen=True)
class Hyperparameter:
    """A number that a member trains with, and the range that exploration keeps it in.

    The scale `log` samples uniformly in the logarithm of the value, `complement` in that of 1 - value. A
    discount needs the latter: its horizon is 1 / (1 - gamma), and 1.2 * gamma would mostly be the bound.
    Perturbing one of the `choices` gives its neighbour in their order.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    scale: Literal["linear", "log", "complement"] = "linear"
    integer: bool = False
    choices: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Refuse ranges that cannot be sampled."""
        low, high = self.low, self.high
        if "/" in self.name or self.name in ("", "."):
            raise expected("hyperparameter", "a name without '/', and not '' or '.'", self.name)
        if not all(isinstance(choice, int | float) for choice in self.choices):
            raise expected(self.name, "choices that are numbers", self.choices)
        if not self.choices and not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise expected(self.name, "a finite range low <= high", (low, high))
        if self.integer and not self.choices and not (float(low).is_integer() and float(high).is_integer()):
            raise expected(self.name, "a range between whole numbers", (low, high))
        if self.scale == "log" and low <= (0.5 if self.integer else 0):
            raise expected(self.name, "a range above 0 for a log scale", (low, high))
        if self.scale == "complement" and high >= 1:
            raise expected(self.name, "a range below 1 for a complement scale", (low, high))

    def sample(self, rng: np.random.Generator) -> float:
        """Return a random value from the whole range."""
        return self.at(rng.random())

    def at(self, place: float) -> float:
        """Return the value at a position in [0, 1] of the range, on its scale."""
        if self.choices:
            return float(self.choices[min(int(place * len(self.choices)), len(self.choices) - 1)])
        begin, end = self._ends
        scaled = begin + (end - begin) * place
        if self.scale == "linear":
            return self._fitted(scaled)
        return self._fitted(1 - math.exp(scaled) if self.scale == "complement" else math.exp(scaled))

    def place(self, value: float) -> float:
        """Return the position in [0, 1] of a value; one outside the range is at an end."""
        if self.choices:
            return (self.choices.index(value) + 0.5) / len(self.choices)
        begin, end = self._ends
        return (self._scaled(self._fitted(value)) - begin) / (end - begin) if end > begin else 0.5

    @property
    def _ends(self) -> tuple[float, float]:
        """Both ends of the range on its scale; reversed for a complement."""
        half = 0.5 * self.integer  # the integers at the ends must be as likely as the others
        ends = self._scaled(self.low - half), self._scaled(self.high + half)
        return (ends[1], ends[0]) if self.scale == "complement" else ends

    def _scaled(self, value: float) -> float:
        if self.scale == "linear":
            return value
        return math.log(1 - value if self.scale == "complement" else value)

    def perturb(self, value: float, rng: np.random.Generator) -> float:
        """Return the value times 0.8 or 1.2, within the range; an integer changes by at least 1."""
        up = int(rng.integers(2))
        if self.choices:
            place = self.choices.index(value) + (1 if up else -1)
            return float(self.choices[min(max(place, 0), len(self.choices) - 1)])
        factor = _FACTORS[up]
        moved = 1 - (1 - value) * factor if self.scale == "complement" else value * factor
        if self.integer and round(moved) == value:
            moved = value + (1 if up else -1)
        return self._fitted(moved)

    def _fitted(self, value: float) -> float:
        """Return the nearest value in the range."""
        if self.integer:
            value = round(value)
        return float(min(max(value, self.low), self.high))


def explore(
    space: Sequence[Hyperparameter], values: NDArray[np.float64], rng: np.random.Generator, resample: float
) -> NDArray[np.float64]:
    """Return new values (len(space),): each is resampled with probability `resample`, else perturbed."""
    explored = np.empty(len(space))
    for place, one in enumerate(space):
        resampled = rng.random() < resample
        explored[place] = one.sample(rng) if resampled else one.perturb(float(values[place]), rng)
    return explored


def tuned(declared: Sequence[Hyperparameter], wanted: Sequence[str], member: str) -> list[Hyperparameter]:
    """Return the hyperparameters of a member that `--tune` names; all if it is empty, none if `none`.

    Args:
        wanted: `name`, or `name=low:high` to change the range.
        member: its description for error messages.
    """
    if len(known := {one.name: one for one in declared}) < len(declared):
        raise expected(f"hyperparameters of {member}", "each name once", [one.name for one in declared])
    if taken := known.keys() & _TAKEN:
        raise expected(f"hyperparameters of {member}", "other names", sorted(taken))
    if list(wanted) == ["none"]:
        return []
    chosen = {}
    for word in wanted:
        name, given, span = word.partition("=")
        if name not in known:
            raise unknown(f"--tune, of {member}", name, known)
        if name in chosen:
            raise expected("--tune", "each name once", word)
        if given and known[name].choices:
            raise expected("--tune", f"{name} without a range, since it has choices", word)
        one = known[name]
        low, high = _range(word, span) if given else (one.low, one.high)
        least = min(one.low, float(one.integer))  # a number of epochs stays positive
        if one.low >= 0 and low < least:
            raise expected("--tune", f"{name} from {least:g} on", word)
        chosen[name] = replace(one, low=low, high=high)
    return list(chosen.values()) if wanted else list(declared)


def _range(word: str, span: str) -> tuple[float, float]:
    low, _, high = span.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise expected("--tune", "name or name=low:high", word) from None


def check_in_effect(wanted: Mapping[str, float], found: Mapping[str, float]) -> None:
    """Refuse a training whose values differ from those that the population set and recorded."""
    for name, value in wanted.items():
        if found.get(name) != value:
            raise expected(name, f"{value!r} in the learner, as the population set it", found.get(name))


def check_choices(space: Sequence[Hyperparameter], values: NDArray[np.float64]) -> None:
    """Refuse values (n, space) that are not among the choices: they have no neighbours to explore."""
    for one, column in zip(space, values.T, strict=True):
        for value in column.tolist() if one.choices else ():
            if value not in one.choices:
                raise expected(one.name, f"one of {one.choices}", value)
