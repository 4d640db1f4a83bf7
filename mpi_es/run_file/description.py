"""Dataclasses in a run file: a state from its plain values, and a config that obeys its rules."""

import types
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from mpi_es.config import parts
from mpi_es.config.fields import LARGEST, option
from mpi_es.errors import UserError, expected

C = TypeVar("C")


def to_plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as a dict that `save` takes."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def from_plain(cls: type, plain: dict[str, Any]) -> Any:
    """Return the dataclass `cls` from what was read; a field that the file lacks takes its default."""
    names = {field.name for field in fields(cls)}
    if extra := sorted(set(plain) - names):
        raise UserError(f"run file: expected fields of {cls.__name__}, got {', '.join(extra)}")
    hints = get_type_hints(cls)
    return cls(**{name: _of_field(hints[name], value) for name, value in plain.items()})


def _of_field(hint: Any, value: Any) -> Any:
    """Return a value that was read in the type that its field declares."""
    if get_origin(hint) is tuple:
        return tuple(np.atleast_1d(value).tolist())
    return from_plain(hint, value) if isinstance(hint, type) and is_dataclass(hint) else value


def config_of(cls: type[C], stored: Any, imports: bool = False) -> C:
    """Return the config that a file holds; its values obey the rules of the command line.

    Args:
        imports: the code of a strategy of the user's own, whose options are left out otherwise.
    """
    if not isinstance(stored, dict):
        raise UserError("expected a group of options, got none")
    names = {name: value for name, value in stored.items() if name in parts.parts_of(cls)}
    for name, value in names.items():
        if not isinstance(value, str):
            raise expected(option(name), in_words(str), value)
    known = parts.declared(parts.suited(cls, names, imports=imports))
    own = [name for name, value in names.items() if ":" in value]
    if (extra := sorted(set(stored) - set(known))) and (imports or not own):
        raise UserError(f"expected fields of {cls.__name__}, got {', '.join(map(ascii, extra))[:200]}")
    known = {name: one for name, one in known.items() if name in stored}
    hints = {name: one.plain for name, one in known.items()}
    values = {name: of_option(name, stored[name], hint) for name, hint in hints.items()}
    return parts.suited(cls, values, imports=imports)


def of_option(name: str, value: Any, hint: Any) -> Any:
    """Return a value in the type of its option, or refuse it."""
    try:
        return converted(value, hint)
    except TypeError:
        got = value if isinstance(value, bool | int | float | str | None) else type(value).__name__
        raise expected(option(name), in_words(hint), got) from None


def converted(value: Any, hint: Any) -> Any:
    """Return a value that was read in the type that a field declares, or raise TypeError."""
    if get_origin(hint) in (Union, types.UnionType):
        inner = next(kind for kind in get_args(hint) if kind is not types.NoneType)
        return None if value is None else converted(value, inner)
    if get_origin(hint) is Literal:
        if isinstance(value, str) and value in get_args(hint):
            return value
    elif get_origin(hint) is tuple:
        return tuple(converted(one, get_args(hint)[0]) for one in _listed(value))
    elif hint is float and type(value) is int and abs(value) <= LARGEST:
        return float(value)
    elif type(value) is hint:
        return value
    raise TypeError


def _listed(value: Any) -> list[Any]:
    """Return the values of a list, whether an array or a text of JSON holds it, or raise TypeError."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if not isinstance(value, list):
        raise TypeError
    return value


def in_words(hint: Any) -> str:
    """Return what a field expects, in words."""
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(str, get_args(hint)))}"
    if get_origin(hint) is tuple:
        return f"a list of {get_args(hint)[0].__name__}"
    several = [kind.__name__.removesuffix("Type") for kind in get_args(hint) or (hint,)]  # NoneType
    return "a value of type " + " or ".join(several)
