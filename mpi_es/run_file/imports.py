"""Code that a run file names as package.module:name, which those who resume or evaluate the run import."""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from mpi_es.config.fields import option
from mpi_es.errors import UserError

FLAG = "--no-imports"
_OWN = ("mpi_es", "pbt")  # packages of ours
AGENT = ("env", "policy", "policy_options", "member", "member_options")  # options that make an agent
TRAINING = (*AGENT, "strategy", "function", "callback")
_IN_OPTION = re.compile(r"(?<![\w.])([A-Za-z_][\w.]*):([A-Za-z_]\w*)(?![\w:])")
_PREFIXES = ("vector:", "envpool:")


def named(config: Any, fields: Sequence[str] = TRAINING) -> Iterator[tuple[str, str]]:
    """Yield the options of a config that name code outside of our packages, each with the name."""
    for field in fields:
        value = getattr(config, field, "")
        if field == "function" and getattr(config, "is_of_script", False):
            continue  # the script has it
        for name in _in_options(value) if isinstance(value, tuple) else _in_name(value):
            if name.partition(":")[0].partition(".")[0] not in _OWN:
                yield option(field), name


def check(config: Any, source: object, *, allowed: bool, fields: Sequence[str] = TRAINING) -> None:
    """Print what will be imported because a file says so, or refuse the file.

    Args:
        source: the file or the run, for the message.
        allowed: false with --no-imports.
        fields: the options whose code will be imported.
    """
    found = ", ".join(f"{name} ({field})" for field, name in named(config, fields))
    if not found:
        return
    if not allowed:
        raise UserError(f"{source}: expected no code of others, as {FLAG} asks, got {found}")
    print(f"{source} names code that is imported: {found}", file=sys.stderr, flush=True)


def _in_name(name: str) -> list[str]:
    """Return the name in the value of an option, if it is of code."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return [name] if ":" in name else []


def _in_options(words: Sequence[str]) -> list[str]:
    """Return the names of code in values of name=value."""
    return [found[0] for word in words for found in _IN_OPTION.finditer(word.partition("=")[2])]
