"""Rules for the values of a run file; a rule returns what it expects, in words, or "" for a valid value."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

from mpi_es.config.fields import LARGEST, Range
from mpi_es.run_file.hdf5 import Unfit

Rule = Callable[[Any], str]
Rules = Mapping[str, "Rule | Rules"]


def count(high: int = LARGEST, low: int = 0) -> Rule:
    """Return the rule of a whole number from `low` to `high`."""
    words = f"a whole number of {low} or more" if high == LARGEST else f"a whole number from {low} to {high}"
    words = str(low) if low == high else words
    return lambda value: "" if type(value) is int and low <= value <= high else words


def number(low: float = -math.inf, high: float = math.inf, *, may_be_nan: bool = False) -> Rule:
    """Return the rule of a number in [low, high]."""
    words = f"a number in [{low:g}, {high:g}]" + (" or NaN" if may_be_nan else "")

    def rule(value: Any) -> str:
        fits = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        return "" if fits or (may_be_nan and not nan(value)) else words

    return rule


def nan(value: Any) -> str:
    """Require NaN, the fitness that is not known."""
    return "" if isinstance(value, float) and math.isnan(value) else "NaN"


def text(value: Any) -> str:
    """Require a text."""
    return "" if isinstance(value, str) else "a text"


def flag(value: Any) -> str:
    """Require a truth value."""
    return "" if isinstance(value, bool) else "true or false"


def array(kinds: str, *shape: int | None) -> Rule:
    """Return the rule of an array.

    Args:
        kinds: its possible types, such as "f4 f8".
        shape: None for any length.
    """
    types = [np.dtype(kind) for kind in kinds.split()]
    words = f"{' or '.join(map(str, types))} ({', '.join('any' if n is None else str(n) for n in shape)})"

    def rule(value: Any) -> str:
        fits = isinstance(value, np.ndarray) and value.dtype in types and value.ndim == len(shape)
        same = fits and all(n in (None, m) for n, m in zip(shape, value.shape, strict=True))
        return "" if same else words

    return rule


def finite(kinds: str, *shape: int | None) -> Rule:
    """Return the rule of an array whose numbers are finite."""
    shaped = array(kinds, *shape)
    return lambda value: shaped(value) or ("" if np.isfinite(value).all() else "finite numbers")


def between(low: float, high: float, kinds: str, *shape: int | None) -> Rule:
    """Return the rule of an array whose numbers are in an interval."""
    shaped, words = array(kinds, *shape), f"numbers in [{low:g}, {high:g}]"
    return lambda value: shaped(value) or ("" if ((value >= low) & (value <= high)).all() else words)


def numbers(*shapes: tuple[int, ...]) -> Rule:
    """Return the rule of finite numbers of any type, in one of several shapes."""

    def rule(value: Any) -> str:
        if isinstance(value, str | dict | None) or np.shape(value) not in shapes:
            return f"numbers of shape {shapes[0]}"
        return "" if np.isfinite(value).all() else "finite numbers"

    return rule


def require(place: str, value: Any, rule: Rule) -> None:
    """Refuse a value that breaks a rule."""
    if words := rule(value):
        raise Unfit(f"{place}: expected {words}, got {described(value)}")


def any_group(value: Any) -> str:
    """Require a group, whatever is in it."""
    return "" if isinstance(value, dict) else "a group"


def texts(value: Any) -> str:
    """Require a group of texts."""
    fits = isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    return "" if fits else "a group of texts"


def of_record(record: type, **given: "Rule | Rules") -> Rules:
    """Return the rules of the group of a dataclass, from the types, ranges and defaults of its fields.

    Args:
        given: the rules of fields that depend on the run.
    """
    hints = get_type_hints(record, include_extras=True)
    return {one.name: given.get(one.name) or _of_field(one, hints[one.name]) for one in fields(record)}


def _of_field(field: Field[Any], hint: Any) -> Rule:
    """Return the rule of a field; one whose default is NaN may be NaN."""
    kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if kind is float:
        interval = next((mark for mark in marks if isinstance(mark, Range)), Range(-math.inf))
        return number(interval.low, interval.high, may_be_nan=not nan(field.default))
    return {int: count(), bool: flag, str: text}[kind]


def check_group(group: Any, rules: Rules, path: str = "", optional: Sequence[str] = ()) -> None:
    """Refuse a group whose content breaks its rules, or has names that are not in them."""
    if not isinstance(group, dict):
        raise Unfit(f"{path or '/'}: expected a group, got {described(group)}")
    if extra := sorted(set(group) - set(rules)):
        raise Unfit(f"{path}/{_printable(extra[0])}: expected nothing of this name")
    for name, rule in rules.items():
        place = f"{path}/{name}"
        if name not in group:
            if name in optional:
                continue
            what = "a group" if isinstance(rule, Mapping) else "a value"
            raise Unfit(f"{place}: expected {what}, got none")
        if isinstance(rule, Mapping):
            check_group(group[name], rule, place)
        else:
            require(place, group[name], rule)


def described(value: Any) -> str:
    """Return a value of a file as a message shows it, on one line."""
    if isinstance(value, dict):
        return "a group"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    return _printable(repr(value))


def _printable(name: str) -> str:
    return ascii(name)[1:-1][:100] if not name.isprintable() or len(name) > 100 else name
