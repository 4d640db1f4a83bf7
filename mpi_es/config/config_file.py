"""Options in a TOML file: `--config FILE` reads one, and every run writes one into its directory."""

import difflib
import json
import math
import tomllib
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from mpi_es.config.parts import declared, every
from mpi_es.config.tables import help_of, is_given, values_of
from mpi_es.errors import UserError, expected, unknown

NAME = "config.toml"


@dataclass(frozen=True)
class ConfigFile:
    """The options that a file holds; it is a preset of the user's own, perhaps on top of another preset."""

    path: str = ""
    preset: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)  # of fields
    keys: Mapping[str, str] = field(default_factory=dict)  # of fields, as they are written in the file

    def without(self, name: str) -> "ConfigFile":
        """Return the options less one."""
        return replace(self, values={one: value for one, value in self.values.items() if one != name})


def read(path: str, kind: type, presets: Mapping[str, Any]) -> ConfigFile:
    """Return the options in a file, or refuse what is no option or has another type.

    Args:
        kind: of the config.
        presets: by their names; none where a config is given that the file may not replace.
    """
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"--config: cannot read {path} ({error.strerror})") from error
    except ValueError as error:  # no TOML, or no UTF-8
        raise UserError(f"--config: {path} is no TOML file: {error}") from error
    preset = str(table.pop("preset", ""))
    if preset and not presets:
        raise UserError(f"{path}: preset: expected to be left out, since the run has its options already")
    if preset and preset not in presets:
        raise unknown(f"{path}: preset", preset, presets)
    known = {name.removeprefix("--"): one for one in every(kind) for name in one.names}
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for key, value in table.items():
        one = known.get(key.replace("_", "-"))
        if one is None:
            near = difflib.get_close_matches(key.replace("_", "-"), ["preset", *known], n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise UserError(f"{path}: {key}: no option has this name{meant} (--help lists the options)")
        if one.name in values:
            raise UserError(f"{path}: {key}: expected once, but {keys[one.name]} is the same option")
        try:
            values[one.name], keys[one.name] = _converted(value, one.plain), key
        except TypeError:
            raise expected(f"{path}: {key}", _rule(one.hint, one.plain), value) from None
    return ConfigFile(path, preset, values, keys)


def _converted(value: Any, hint: Any) -> Any:
    """Return a value of TOML as its field has it, or raise TypeError."""
    if get_origin(hint) in (Union, types.UnionType):
        inner = next(kind for kind in get_args(hint) if kind is not types.NoneType)
        return None if value == "None" else _converted(value, inner)
    if get_origin(hint) is Literal and value in get_args(hint):
        return value
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_converted(one, get_args(hint)[0]) for one in value)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is hint:  # a bool is no int
        return value
    raise TypeError


def _rule(hint: Any, plain: Any) -> str:
    """Return what a key expects, in words."""
    if plain is bool:
        return "true or false"
    if get_origin(plain) is tuple:
        return f"{values_of(hint).partition(',')[0]} in brackets"
    return values_of(hint)


def text(config: Any, head: Sequence[str] = ()) -> str:
    """Return the TOML file of a config: what differs from the defaults, then the others as comments.

    Args:
        head: lines of a comment at the beginning.
    """
    given, others = [], []
    for one in declared(config).values():
        line = f"{one.name.replace('_', '-')} = {toml(one.value)}"
        if is_given(config, one):
            given.append(f"# {help_of(one)}\n{line}")
        else:
            others.append(f"# {help_of(one)}\n#{line}")
    top = "".join(f"# {line}\n" for line in head)
    return "\n".join([f"{top}\n# Options that differ from their defaults\n", *given, _OTHERS, *others, ""])


_OTHERS = "\n# All other options and their defaults; without the # a line is an option of the file\n"


def toml(value: Any) -> str:
    """Return a value as TOML writes it; None, which TOML lacks, as the text "None"."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    # A string of JSON is one of TOML, but for the character DEL.
    return json.dumps("None" if value is None else value, ensure_ascii=False).replace("\x7f", "\\u007f")
