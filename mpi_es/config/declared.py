"""An option as its field declares it: names, values, default and help,
for everything that reads or shows options.
"""

import ast
import contextlib
import functools
import inspect
import textwrap
import types
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, is_dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mpi_es.config.fields import LARGEST, Alias, Group, Range, option
from mpi_es.errors import UserError, expected, unknown

_LONG = 200  # characters of a value, which may be a whole array
_KINDS = {int: "whole number", float: "number", str: "text", bool: "flag", types.NoneType: "None"}


@dataclass(frozen=True)
class Declared:
    """An option of a config."""

    name: str
    owner: type  # the dataclass whose field it is
    hint: Any  # its annotation, with the marks
    value: Any
    default: Any
    part: str = ""  # the field of the config that holds the option's part; empty without one
    is_part: bool = False  # its value is the name of a part

    @property
    def marks(self) -> tuple[Any, ...]:
        """What its annotation holds in addition to the type."""
        return getattr(self.hint, "__metadata__", ())

    @property
    def plain(self) -> Any:
        """Its type."""
        return get_args(self.hint)[0] if get_origin(self.hint) is Annotated else self.hint

    @property
    def names(self) -> list[str]:
        """All names on the command line."""
        more = [name for mark in self.marks if isinstance(mark, Alias) for name in mark.names]
        return [option(self.name), *more]

    @property
    def is_list(self) -> bool:
        """Whether it takes several values."""
        return get_origin(self.plain) is tuple

    @property
    def choices(self) -> tuple[str, ...]:
        """Its values, if they are listed."""
        return get_args(self.plain) if get_origin(self.plain) is Literal else ()

    @property
    def values(self) -> str:
        """Its values in words."""
        inner = get_args(self.plain)
        if self.choices:
            return ", ".join(self.choices)
        if self.is_list:
            return f"{_kind(inner[0])}s, or nothing"
        if inner:
            return " or ".join(map(_kind, inner))
        return " ".join([_kind(self.plain), *(str(mark) for mark in self.marks if isinstance(mark, Range))])

    @property
    def help(self) -> str:
        """Its meaning: the string below its field."""
        return " ".join(_strings(self.owner).get(self.name, "").split())  # on one line

    def converted(self, value: Any, place: str, rule: str = "") -> Any:
        """Return a plain value in the type of the option, or refuse it.

        Args:
            place: what the error begins with.
            rule: what the error says is expected; by default the values in words.
        """
        try:
            return _converted(value, self.plain)
        except TypeError:
            if self.choices and isinstance(value, str):
                raise unknown(place, value, self.choices) from None
            rule = rule or ("true or false" if self.plain is bool else self.values)
            got = value if len(repr(value)) < _LONG else type(value).__name__
            raise expected(place, rule, got) from None

    def of_words(self, words: Sequence[str], flag: str, *, is_off: bool = False) -> Any:
        """Return the value that words of the command line give, or refuse them.

        Args:
            flag: what the error begins with.
            is_off: whether the name switches a flag off.
        """
        if self.plain is bool:
            if words:
                raise expected(flag, "no value", words[0])
            return not is_off
        kinds = get_args(self.plain) or (self.plain,)
        values = [_number(word, kinds) for word in words]
        if not (values or self.is_list):
            raise UserError(f"{flag}: expected {self.values}, got nothing")
        return self.converted(values if self.is_list else values[0], flag)


def _kind(kind: type) -> str:
    """Return a type in words; a user's option may have a type that ours do not."""
    return _KINDS.get(kind, kind.__name__)


def _number(word: str, kinds: Sequence[type]) -> int | float | str:
    """Return a word as a number of one of these types, if it is one, else unchanged."""
    for kind in (int, float):
        if kind in kinds:
            with contextlib.suppress(ValueError):
                return kind(word)
    return word


def _converted(value: Any, kind: Any) -> Any:
    """Return a plain value in a type, or raise TypeError."""
    if get_origin(kind) in (Union, types.UnionType):
        inner = next(one for one in get_args(kind) if one is not types.NoneType)
        return None if value in (None, "None") else _converted(value, inner)
    if get_origin(kind) is Literal and value in get_args(kind):
        return value
    if get_origin(kind) is tuple and isinstance(value, list):
        return tuple(_converted(one, get_args(kind)[0]) for one in value)
    if kind is float and type(value) is int and abs(value) <= LARGEST:
        return float(value)
    if type(value) is kind:  # a bool is not an int
        return value
    raise TypeError


def groups(options: Iterable[Declared]) -> dict[Group, list[Declared]]:
    """Return options by their groups; those before the first group are in one without a title."""
    group = Group("")
    found: dict[Group, list[Declared]] = {}
    for one in options:
        group = next((mark for mark in one.marks if isinstance(mark, Group)), group)
        found.setdefault(group, []).append(one)
    return found


def shown(value: Any) -> str:
    """Return a value as help and tables show it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return (" ".join(map(str, value)) if isinstance(value, tuple) else str(value)) or "empty"


@functools.cache
def _strings(cls: type) -> dict[str, str]:
    """Return the strings below the fields of a dataclass, which Python does not keep."""
    return {
        field.target.id: ast.literal_eval(below.value)
        for one in filter(is_dataclass, reversed(cls.__mro__))
        for field, below in pairwise(_source(one).body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
    }


def _source(cls: type) -> ast.ClassDef:
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    return body
