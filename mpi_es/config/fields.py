"""What a config declares of its fields: range, names, when a field has an effect, whether it may change."""

import math
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

import tyro

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
        if (self.low, self.high) == (-math.inf, math.inf):
            return "a finite number"
        if self.high >= LARGEST:
            begin = f"a number of {self.low:g} or more" if self.with_low else f"a number above {self.low:g}"
            return begin if self.high == math.inf else f"{begin}, below 2**63"
        begin, end = "[" if self.with_low else "(", "]" if self.with_high else ")"
        return f"a number in {begin}{self.low:g}, {self.high:g}{end}"


@dataclass(frozen=True)
class AtMost:
    """A mark: the field is at most the value of another one, where its schedule begins."""

    name: str  # of the other field


CHANGEABLE = "may be changed when a run is resumed"
T = TypeVar("T")
Free = Annotated[T, CHANGEABLE]  # a resume may change it: it does not affect learning
Natural = Annotated[int, Range(0, LARGEST)]
Count = Annotated[int, Range(1, LARGEST)]
Positive = Annotated[float, Range(0, with_low=False)]
NotNegative = Annotated[float, Range(0)]
Decay = Annotated[float, Range(0, 1, with_low=False)]
AtLeastOne = Annotated[float, Range(1)]
Share = Annotated[float, Range(0, 1, with_low=False)]
Proper = Annotated[float, Range(0, 1, with_low=False, with_high=False)]
Fraction = Annotated[float, Range(0, 1, with_high=False)]


@dataclass(frozen=True)
class Of:
    """A mark: the field has an effect only with these values of another option."""

    name: str  # of the other field
    values: tuple[object, ...]

    def obstacle(self, config: Any) -> str:
        """Return what keeps the field from having an effect; empty if nothing does."""
        value = getattr(config, self.name)
        if value in self.values:
            return ""
        return f"with {option(self.name)} {value}"


ENVIRONMENT = Of("function", ("",))  # of policies in environments, not of functions


def alias(*names: str) -> Any:
    """Mark a field with the names that the systems we replace give its option."""
    return tyro.conf.arg(aliases=names)


@dataclass(frozen=True)
class Unless:
    """A mark: the field has no effect with this value of another option."""

    name: str  # of the other field
    value: object

    def obstacle(self, config: Any) -> str:
        """Return what keeps the field from having an effect; empty if nothing does."""
        value = getattr(config, self.name)
        return f"with {option(self.name)} {value}" if value == self.value else ""


@dataclass(frozen=True)
class Needs:
    """A mark: the field has an effect only if one of these options is given."""

    names: tuple[str, ...]

    def obstacle(self, config: Any) -> str:
        """Return what keeps the field from having an effect; empty if nothing does."""
        if any(getattr(config, name) not in (None, "") for name in self.names):
            return ""
        return f"without {' or '.join(map(option, self.names))}"


def option(name: str) -> str:
    """Return a field's option on the command line."""
    return "--" + name.replace("_", "-")


def check_ranges(config: Any) -> None:
    """Refuse numbers outside their ranges, and text that no file can hold or a terminal would obey."""
    for name, hint in get_type_hints(type(config), include_extras=True).items():
        value = getattr(config, name)
        for text in value if isinstance(value, tuple) else (value,):
            _check_text(option(name), text)
        for rule in getattr(hint, "__metadata__", ()):
            if isinstance(rule, Range) and value is not None and not rule.holds(value):
                raise expected(option(name), str(rule), value)
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
