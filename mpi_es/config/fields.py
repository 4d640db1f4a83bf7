"""What a config declares of its fields: range, names, when a field has an effect, whether it may change."""

import math
import unicodedata
from dataclasses import dataclass, fields
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
        if (self.low, self.high) == (-math.inf, math.inf):
            return "a finite number"
        if self.high >= LARGEST:
            begin = f"a number of {self.low:g} or more" if self.with_low else f"a number above {self.low:g}"
            return begin if self.high == math.inf else f"{begin}, below 2**63"
        begin, end = "[" if self.with_low else "(", "]" if self.with_high else ")"
        return f"a number in {begin}{self.low:g}, {self.high:g}{end}"


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
    own: bool = False  # also a value package.module:Class of the user's own

    def obstacle(self, config: Any) -> str:
        """Return what keeps the field from having an effect; empty if nothing does."""
        value = getattr(config, self.name)
        if value in self.values or (self.own and ":" in str(value)):
            return ""
        return f"with {option(self.name)} {value}"


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


def of_strategy(*names: str) -> Of:
    """Mark a field that only these of the built-in strategies use; a user's own may use any."""
    return Of("strategy", names, own=True)


def of_policy(*names: str) -> Of:
    """Mark a field that only these policies use."""
    return Of("policy", names)


def option(name: str) -> str:
    """Return a field's option on the command line."""
    return "--" + name.replace("_", "-")


def names_of(name: str, cls: type) -> list[str]:
    """Return all options that set a field on the command line."""
    rules = getattr(get_type_hints(cls, include_extras=True)[name], "__metadata__", ())
    return [option(name)] + [alias for rule in rules for alias in getattr(rule, "aliases", None) or ()]


def marks(cls: type) -> dict[str, tuple[Any, ...]]:
    """Return the marks of each field: what its annotation has in addition to the type."""
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: getattr(hints[field.name], "__metadata__", ()) for field in fields(cls)}


def without_effect(config: Any) -> dict[str, str]:
    """Return the fields that have no effect in a config, each with the reason."""
    idle: dict[str, str] = {}
    for name, of_field in marks(type(config)).items():
        obstacles = [mark.obstacle(config) for mark in of_field if isinstance(mark, (Of, Unless, Needs))]
        if any(obstacles):
            idle[name] = next(filter(None, obstacles))
    return idle


def check_ranges(config: Any) -> None:
    """Refuse a number outside its field's range, and text that no file can hold or a terminal would obey."""
    for name, hint in get_type_hints(type(config), include_extras=True).items():
        value = getattr(config, name)
        for text in value if isinstance(value, tuple) else (value,):
            _check_text(option(name), text)
        for rule in getattr(hint, "__metadata__", ()):
            if isinstance(rule, Range) and value is not None and not rule.holds(value):
                raise expected(option(name), str(rule), value)


def _check_text(name: str, text: object) -> None:
    """Refuse a text that is not UTF-8, or has control characters other than tabs and line breaks."""
    if not isinstance(text, str):
        return
    if text.encode(errors="ignore").decode() != text:
        raise expected(name, "UTF-8", text)
    if any(unicodedata.category(one) == "Cc" and one not in "\t\n" for one in text):
        raise expected(name, "a text without control characters", text)


def changeable(cls: type) -> set[str]:
    """Return the fields that may differ when a run is resumed."""
    hints = get_type_hints(cls, include_extras=True)
    return {f.name for f in fields(cls) if CHANGEABLE in getattr(hints[f.name], "__metadata__", ())}
