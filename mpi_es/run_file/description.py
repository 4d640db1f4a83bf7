"""Dataclasses in a run file: records from plain values, and configs, whose values are checked."""

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_origin, get_type_hints

import numpy as np

from mpi_es.config import parts
from mpi_es.config.fields import option
from mpi_es.errors import UserError, expected

C = TypeVar("C")


def to_plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as a dict that `save` takes."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def from_plain(cls: type, plain: dict[str, Any]) -> Any:
    """Return the dataclass `cls` from the values of a file; a field that the file lacks has its default."""
    names = {field.name for field in fields(cls)}
    if extra := sorted(set(plain) - names):
        raise UserError(f"run file: expected fields of {cls.__name__}, got {', '.join(extra)}")
    hints = get_type_hints(cls)
    return cls(**{name: _of_field(hints[name], value) for name, value in plain.items()})


def _of_field(hint: Any, value: Any) -> Any:
    """Return a value of a file in the type that its field declares."""
    if get_origin(hint) is tuple:
        return tuple(np.atleast_1d(value).tolist())
    return from_plain(hint, value) if isinstance(hint, type) and is_dataclass(hint) else value


def config_of(cls: type[C], stored: Any, imports: bool = False) -> C:
    """Return the config that a file holds; refuse values that the command line would refuse.

    Args:
        imports: whether to import a user's strategy, whose options are otherwise ignored.
    """
    if not isinstance(stored, dict):
        raise UserError("expected a group of options, got none")
    names = {name: value for name, value in stored.items() if name in parts.parts_of(cls)}
    for name, value in names.items():
        if not isinstance(value, str):
            raise expected(option(name), "text", value)
    known = parts.declared(parts.suited(cls, names, imports=imports))
    own = [name for name, value in names.items() if ":" in value]
    if (extra := sorted(set(stored) - set(known))) and (imports or not own):
        raise UserError(f"expected fields of {cls.__name__}, got {', '.join(map(ascii, extra))[:200]}")
    plain = {name: _plain(stored[name]) for name in known if name in stored}
    values = {name: known[name].converted(value, option(name)) for name, value in plain.items()}
    return parts.suited(cls, values, imports=imports)


def own_options(config: Any, stored: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a file that its config lacks: a user's strategy that is not imported has them."""
    known = parts.declared(config)
    own = {name: _plain(value) for name, value in stored.items() if name not in known}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in own.items()}


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
