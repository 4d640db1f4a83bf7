"""What a config declares about its fields: group, names, range, effect, and whether it may change."""

import functools
import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

from mpi_es.errors import expected

LARGEST = 2**63 - 1  # the largest integer of numpy and HDF5


@dataclass(frozen=True)
class Range:
    """An interval of numbers, closed or open at each end."""

    low: float
    high: float = math.inf
    with_low: bool = True
    with_high: bool = True

    def holds(self, value: float) -> bool:
        """Return whether the value is finite and in the interval."""
        above = value >= self.low if self.with_low else value > self.low
        below = value <= self.high if self.with_high else value < self.high
        return math.isfinite(value) and above and below

    def __str__(self) -> str:
        """Return it as an inequality or an interval; empty if it holds every number."""
        if self.low == -math.inf:
            return ""
        if self.high == math.inf:
            return f"{'≥' if self.with_low else '>'} {self.low:g}"
        begin, end = "[" if self.with_low else "(", "]" if self.with_high else ")"
        return f"in {begin}{self.low:g}, {self.high:g}{end}"


@dataclass(frozen=True)
class AtMost:
    """A mark: the field is at most the value of another one, from which it decays."""

    name: str  # of the other field


CHANGEABLE = "may be changed when a run is resumed"
T = TypeVar("T")
Free = Annotated[T, CHANGEABLE]  # a resume may change it: it does not affect learning
Natural = Annotated[int, Range(0)]
Count = Annotated[int, Range(1)]
Positive = Annotated[float, Range(0, with_low=False)]
NotNegative = Annotated[float, Range(0)]
Share = Annotated[float, Range(0, 1, with_low=False)]
Decay = Share  # a factor in each generation
AtLeastOne = Annotated[float, Range(1)]
Fraction = Annotated[float, Range(0, 1, with_high=False)]


@dataclass(frozen=True)
class Group:
    """A mark: the field is the first of a group of options, up to the next one with such a mark."""

    title: str

    @property
    def name(self) -> str:
        """The argument of --help that shows it: the title's first word."""
        return self.title.partition(" ")[0].strip(",").lower()


class Alias:
    """A mark: more names of the option, from other systems."""

    def __init__(self, *names: str) -> None:
        self.names = names


class Of:
    """A mark: the field has an effect only with these values of another option."""

    def __init__(self, name: str, *values: object) -> None:
        self.name, self.values = name, values

    def obstacle(self, options: Mapping[str, Any]) -> str:
        """Return what keeps the field from having an effect; empty if nothing does."""
        value = options[self.name].value
        return "" if value in self.values else f"with {option(self.name)} {value}"


ENVIRONMENT = Of("function", "")  # for policies in environments, not for functions


class Needs:
    """A mark: the field has an effect only if one of these options differs from its default."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def obstacle(self, options: Mapping[str, Any]) -> str:
        """Return what keeps the field from having an effect; empty if nothing does."""
        others = [options[name] for name in self.names]
        if any(one.value != one.default for one in others):
            return ""
        return f"without {' or '.join(map(option, self.names))}"


def option(name: str) -> str:
    """Return a field's option on the command line."""
    return "--" + name.replace("_", "-")


def off(flag: str) -> str:
    """Return the name that switches a flag off."""
    return flag.replace("--", "--no-", 1)


_hints = functools.cache(functools.partial(get_type_hints, include_extras=True))


def hints_of(cls: Any) -> dict[str, Any]:
    """Return the annotations of a dataclass's fields, with their marks."""
    return _hints(cls)


def check_ranges(config: Any) -> None:
    """Refuse numbers outside their ranges, and text that no file can hold or
    that could control a terminal.
    """
    for name, hint in hints_of(type(config)).items():
        value = getattr(config, name)
        for one in value if isinstance(value, tuple) else (value,):
            _check_text(option(name), one)
            if isinstance(one, int) and abs(one) > LARGEST:
                raise expected(option(name), "a number below 2**63", one)
        for rule in getattr(hint, "__metadata__", ()):
            if isinstance(rule, Range) and value is not None and not rule.holds(value):
                raise expected(option(name), f"a number {rule}" if str(rule) else "a finite number", value)
            if isinstance(rule, AtMost) and value > (bound := getattr(config, rule.name)):
                raise expected(option(name), f"at most {option(rule.name)} {bound}", value)


def _check_text(name: str, text: object) -> None:
    """Refuse a text that is not UTF-8, or has control characters other than tabs and line breaks."""
    if not isinstance(text, str):
        return
    if text.encode(errors="ignore").decode() != text:
        raise expected(name, "UTF-8", text)
    if any(unicodedata.category(one) == "Cc" and one not in "\t\n" for one in text):
        raise expected(name, "a text without control characters", text)
