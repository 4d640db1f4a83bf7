"""Options in a TOML file: `--config FILE` reads one, and every run writes one into its directory."""

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mpi_es.config.parts import declared, every, is_written, no_option, parts_of, suited
from mpi_es.errors import UserError, unknown

NAME = "config.toml"


@dataclass(frozen=True)
class ConfigFile:
    """The options in a file: the user's own preset, which may extend another one."""

    path: str = ""
    preset: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)  # of fields
    keys: Mapping[str, str] = field(default_factory=dict)  # of fields, as written in the file

    def without(self, name: str) -> "ConfigFile":
        """Return the options without one of them."""
        return replace(self, values={one: value for one, value in self.values.items() if one != name})


def read(path: str, kind: type, presets: Mapping[str, Any]) -> ConfigFile:
    """Return the options in a file; refuse unknown options and wrong types.

    Args:
        kind: the class of the config.
        presets: by name; empty if the file may not name one.
    """
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"--config: cannot read {path} ({error.strerror})") from error
    except ValueError as error:  # neither TOML nor UTF-8, or only one of them
        raise UserError(f"--config: {path} is not a TOML file: {error}") from error
    preset = str(table.pop("preset", ""))
    if preset and not presets:
        raise UserError(f"{path}: preset: expected to be left out, since the run has its options already")
    if preset and preset not in presets:
        raise unknown(f"{path}: preset", preset, presets)
    named = {part: table[part] for part in parts_of(kind) if isinstance(table.get(part), str)}
    own = {part: name for part, name in named.items() if ":" in name}  # a user's class may have options
    options = [*every(kind), *declared(suited(kind, own)).values()]
    known = {name.removeprefix("--"): one for one in options for name in one.names}
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for key, value in table.items():
        one = known.get(key.replace("_", "-"))
        if one is None:
            raise no_option(f"{path}: {key}", key.replace("_", "-"), ["preset", *known])
        if one.name in values:
            raise UserError(f"{path}: {key}: expected once, but {keys[one.name]} is the same option")
        rule = one.values.replace(",", " in brackets,") if one.is_list else ""
        values[one.name], keys[one.name] = one.converted(value, f"{path}: {key}", rule), key
    return ConfigFile(path, preset, values, keys)


def text(config: Any, head: Sequence[str] = ()) -> str:
    """Return the TOML file of a config: what differs from the defaults, then the others as comments.

    Args:
        head: lines of a comment at the beginning.
    """
    given, others = [], []
    for one in declared(config).values():
        line = f"{one.name.replace('_', '-')} = {toml(one.value)}"
        if is_written(config, one):
            given.append(f"# {one.help}\n{line}")
        else:
            others.append(f"# {one.help}\n#{line}")
    top = "".join(f"# {line}\n" for line in head)
    return "\n".join([f"{top}\n# Options that differ from their defaults\n", *given, _OTHERS, *others, ""])


_OTHERS = "\n# All other options and their defaults; remove the # of a line to set its option\n"


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
    # A JSON string is a TOML string, except for the character DEL.
    return json.dumps("None" if value is None else value, ensure_ascii=False).replace("\x7f", "\\u007f")
