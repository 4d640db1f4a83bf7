"""python -m mpi_es.config.tables [FILE…]: the tables of options and presets, read from the config.

Without FILE it prints them; with FILEs it replaces the text between their markers there.
"""

import ast
import inspect
import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from mpi_es.config.fields import Range, changeable, names_of, option
from mpi_es.config.groups import groups
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config
from mpi_es.errors import expected

_KINDS = {int: "whole number", float: "number", str: "text", bool: "flag"}
_BOUNDLESS = 2.0**62  # a larger limit is that of the storage, and not printed


def tables() -> dict[str, str]:
    """Return the tables in Markdown by the names of their markers."""
    return {"options": options_table(Config), "presets": presets_table()}


def options_table(cls: type) -> str:
    """Return a table for each group of a config's fields, and a row for each field.

    A row has its option, values, default and help, and whether a resumed run may change it.
    """
    free, said = changeable(cls), help_texts(cls)
    hints = get_type_hints(cls, include_extras=True)
    defaults = {field.name: default_of(field.default) for field in fields(cls)}
    parts = []
    for group in groups(cls):
        rows = []
        for name in group.fields:
            names = ", ".join(f"`{known}`" for known in names_of(name, cls))
            rows.append((names, values_of(hints[name]), defaults[name], said[name], _yes(name in free)))
        title = f"### {group.title}\n\n" if group.title else ""
        parts.append(title + _markdown(("Option", "Values", "Default", "Meaning", "With `--resume`"), rows))
    return "\n".join(parts)


def presets_table(presets: Mapping[str, Any] = PRESETS) -> str:
    """Return a row for each preset: its name and the options that it stands for."""
    rows = [(f"`{name}`", f"`{shlex.join(as_options(config))}`") for name, config in presets.items()]
    return _markdown(("Preset", "Stands for"), rows)


def is_given(config: Any, field: Field[Any]) -> bool:
    """Return whether a config names a field where it is written: one that is not its default, or always."""
    differs = getattr(config, field.name) != field.default
    return bool(differs or field.name in getattr(config, "ALWAYS_GIVEN", ()))


def as_options(config: Any) -> list[str]:
    """Return the command line of a config: its options that are not the defaults, and those always given."""
    words: list[str] = []
    for field in fields(config):
        value = getattr(config, field.name)
        if not is_given(config, field):
            continue
        name = option(field.name)
        if isinstance(value, bool):
            words.append(name if value else name.replace("--", "--no-", 1))
        else:
            words += [name, *(f"{item}" for item in (value if isinstance(value, tuple) else (value,)))]
    return words


def help_texts(cls: type) -> dict[str, str]:
    """Return the help text of each field: the string below it, which Python does not keep at run time."""
    body = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(body, ast.ClassDef)
    texts = {}
    for field, line in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            assert isinstance(line, ast.Expr), field.target.id
            texts[field.target.id] = str(ast.literal_eval(line.value))
    return texts


def replaced(text: str, made: Mapping[str, str] | None = None) -> str:
    """Return a document with the tables, ours or those given, between those of their markers that it has."""
    made = made or tables()
    found = [name for name in made if f"<!-- {name}: " in text]
    for name in found:
        begin, end = f"<!-- {name}: ", f"<!-- end of {name} -->"
        head, marker, rest = text.partition(begin)
        text = f"{head}{marker}{rest[: rest.index('-->') + 4]}\n{made[name]}\n{rest[rest.index(end) :]}"
    if not found:
        raise expected("FILE", f"a line <!-- NAME: … -->, where NAME is one of {', '.join(made)}", "none")
    return text


def values_of(hint: Any) -> str:
    """Return the values that an annotation allows."""
    rules = getattr(hint, "__metadata__", ())
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(inner) is Annotated:
        return values_of(Annotated[(get_args(inner)[0], *inner.__metadata__, *rules)])
    if get_origin(inner) is Literal:
        return ", ".join(map(str, get_args(inner)))
    if get_origin(inner) is tuple:
        return f"{_KINDS[get_args(inner)[0]]}s, or nothing"
    several = get_args(inner)
    if several:  # with None
        return ", ".join(["None" if kind is NoneType else _KINDS[kind] for kind in several])
    ranges = [f" {_interval(rule)}" for rule in rules if isinstance(rule, Range)]
    return _KINDS[inner] + "".join(ranges)


def _interval(span: Range) -> str:
    """Return a range as an inequality or an interval."""
    if span.high > _BOUNDLESS or span.high == math.inf:
        return f"{'≥' if span.with_low else '>'} {span.low:g}"
    begin, end = "[" if span.with_low else "(", "]" if span.with_high else ")"
    return f"in {begin}{span.low:g}, {span.high:g}{end}"


def default_of(value: Any) -> str:
    """Return a default as the tables show it."""
    assert value is not MISSING, "every option has a default"
    if isinstance(value, bool):
        return "on" if value else "off"
    shown = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"`{shown}`" if shown else "empty"


def _yes(free: bool) -> str:
    return "may change" if free else "fixed"


def _markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


def main(arguments: Sequence[str], made: Mapping[str, str] | None = None) -> None:
    """Print the tables (ours, or those given), or write them into the named files."""
    for path in map(Path, arguments):
        path.write_text(replaced(path.read_text(encoding="utf-8"), made), encoding="utf-8")
    if not arguments:
        print("\n".join((made or tables()).values()), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
