"""What a config declares of its fields: their ranges, their names, and whether a resume may change them."""

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeVar, get_type_hints

from mpi_es.errors import expected

LARGEST = 2**63 - 1  # that numpy and HDF5 hold


@dataclass(frozen=True)
class Range:
    """The numbers that an option can have: from `low` on, or above it, up to `high`, or below it."""

    low: float
    high: float = math.inf
    with_low: bool = True
    with_high: bool = True

    def holds(self, value: float) -> bool:
        """Tell whether a value lies in it."""
        above = value >= self.low if self.with_low else value > self.low
        below = value <= self.high if self.with_high else value < self.high
        return math.isfinite(value) and above and below

    def __str__(self) -> str:
        if (self.low, self.high) == (-math.inf, math.inf):
            return "a number that is finite"
        if self.high >= LARGEST:
            begin = f"a number of {self.low:g} or more" if self.with_low else f"a number above {self.low:g}"
            return begin if self.high == math.inf else f"{begin}, below 2**63"
        begin, end = "[" if self.with_low else "(", "]" if self.with_high else ")"
        return f"a number in {begin}{self.low:g}, {self.high:g}{end}"


CHANGEABLE = "may be changed when a run is resumed"
T = TypeVar("T")
Free = Annotated[T, CHANGEABLE]  # changing it does not change what is learnt
Natural = Annotated[int, Range(0, LARGEST)]
Count = Annotated[int, Range(1, LARGEST)]
Positive = Annotated[float, Range(0, with_low=False)]
NotNegative = Annotated[float, Range(0)]
Decay = Annotated[float, Range(0, 1, with_low=False)]
Fraction = Annotated[float, Range(0, 1, with_high=False)]


def option(name: str) -> str:
    """Return a field as it is written on the command line."""
    return "--" + name.replace("_", "-")


def names_of(name: str, cls: type) -> list[str]:
    """Return all names under which a field may be given on the command line."""
    rules = getattr(get_type_hints(cls, include_extras=True)[name], "__metadata__", ())
    return [option(name)] + [alias for rule in rules for alias in getattr(rule, "aliases", None) or ()]


def check_ranges(config: Any) -> None:
    """Refuse a number outside the range that its field declares, and text that no file could hold."""
    for name, hint in get_type_hints(type(config), include_extras=True).items():
        value = getattr(config, name)
        if isinstance(value, str) and value.encode(errors="ignore").decode() != value:
            raise expected(option(name), "UTF-8", value)
        for rule in getattr(hint, "__metadata__", ()):
            if isinstance(rule, Range) and value is not None and not rule.holds(value):
                raise expected(option(name), str(rule), value)


def changeable(cls: type) -> set[str]:
    """Return the fields that may differ when a run is resumed."""
    hints = get_type_hints(cls, include_extras=True)
    return {f.name for f in fields(cls) if CHANGEABLE in getattr(hints[f.name], "__metadata__", ())}
