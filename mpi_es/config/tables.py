"""python -m mpi_es.config.tables [FILE…]: the tables of options and presets, read from the config.

Without FILE it prints them; with FILEs it replaces the text between their markers there.
"""

import ast
import functools
import inspect
import math
import shlex
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from mpi_es.config.fields import CHANGEABLE, Range, option
from mpi_es.config.groups import groups
from mpi_es.config.parts import Declared, declared, parts_of
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config
from mpi_es.errors import expected

_KINDS = {int: "whole number", float: "number", str: "text", bool: "flag"}
_BOUNDLESS = 2.0**62  # a larger limit is that of the storage, and not printed


def tables() -> dict[str, str]:
    """Return the tables in Markdown by the names of their markers."""
    return {"options": options_table(Config), "presets": presets_table()}


def options_table(cls: type) -> str:
    """Return a table for each group of a config's options, and one for each strategy and policy.

    A row has the option, its values, default and help, and whether a resumed run may change it.
    """
    common, tables = declared(cls), []
    for name, part in parts_of(cls).items():
        kinds = {one: declared(part.options(option(name), one)) for one in part.places}
        shared = set.intersection(*map(set, kinds.values()))
        for one, options in kinds.items():
            common = {key: each for key, each in common.items() if key in shared or key not in options}
            own = [each for key, each in options.items() if key not in shared]
            tables.append((f"`{option(name)} {one}`", own))
    known = [
        (group.title, [common[name] for name in group.fields if name in common]) for group in groups(cls)
    ]
    return "\n".join(_options(title, rows) for title, rows in [*known, *tables] if rows)


def _options(title: str, rows: Sequence[Declared]) -> str:
    """Return a table of options under a title."""
    cells = [
        (
            ", ".join(f"`{known}`" for known in one.names),
            values_of(one.hint),
            default_of(one.default),
            help_of(one),
            _yes(CHANGEABLE in one.marks),
        )
        for one in rows
    ]
    head = f"### {title}\n\n" if title else ""
    return head + _markdown(("Option", "Values", "Default", "Meaning", "With `--resume`"), cells)


def presets_table(presets: Mapping[str, Any] = PRESETS) -> str:
    """Return a row for each preset: its name and the options that it stands for."""
    rows = [(f"`{name}`", f"`{shlex.join(as_words(values))}`") for name, values in presets.items()]
    return _markdown(("Preset", "Stands for"), rows)


def is_given(config: Any, one: Declared) -> bool:
    """Return whether a config names an option where it is written: one that is not its default, or always."""
    return bool(one.value != one.default or one.name in getattr(config, "ALWAYS_GIVEN", ()))


def as_options(config: Any) -> list[str]:
    """Return the command line of a config: its options that are not the defaults, and those always given."""
    return as_words({name: one.value for name, one in declared(config).items() if is_given(config, one)})


def as_words(values: Mapping[str, Any]) -> list[str]:
    """Return the command line of options."""
    words: list[str] = []
    for key, value in values.items():
        name = option(key)
        if isinstance(value, bool):
            words.append(name if value else name.replace("--", "--no-", 1))
        else:
            words += [name, *(f"{item}" for item in (value if isinstance(value, tuple) else (value,)))]
    return words


def help_of(one: Declared) -> str:
    """Return the help text of an option: the string below its field."""
    return next(texts[one.name] for cls in one.owner.__mro__ if one.name in (texts := _help_texts(cls)))


@functools.cache
def _help_texts(cls: type) -> dict[str, str]:
    """Return the strings below the fields of a class, which Python does not keep at run time."""
    if not is_dataclass(cls):
        return {}
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    texts = {}
    for field, line in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            if field.target.id == "name":  # of the part
                continue
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
