"""Code that a run file names as package.module:name, and that resuming or evaluating the run imports."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from mpi_es.config import user_objects
from mpi_es.config.fields import option
from mpi_es.config.parts import flat
from mpi_es.errors import UserError

FLAG = "--no-imports"
# The names in our presets. Any other name in our packages counts as foreign code: one that is called with a
# file's options, such as user_objects.load, would import whatever they say.
_OURS = frozenset(
    f"{module}:{name}"
    for module, names in {
        "mpi_es.papers.atari_frames": ("make_grey", "make_colour", "make_stacked"),
        "mpi_es.papers.atari_networks": ("ConvolutionLSTM", "Convolution", "Stacked"),
        "pbt.papers.centres": ("make",),
        "pbt.papers.impala": ("Impala",),
    }.items()
    for name in names
)
AGENT = ("env", "policy", "policy_options", "member", "member_options")  # options that make an agent
TRAINING = (*AGENT, "strategy", "function", "callback")
IN_ONE_CALL = ("vector:", "envpool:")  # prefixes of environments that are stepped together


def named(config: Any, fields: Sequence[str] = TRAINING) -> Iterator[tuple[str, str]]:
    """Yield the options of a config that name foreign code, each with the name."""
    values = flat(config)
    for field in fields:
        value = values.get(field, "")
        if field == "function" and getattr(config, "is_of_script", False):
            continue  # the script provides it
        parts = user_objects.parsed(value, option(field)) if isinstance(value, tuple) else None
        for name in _in_name(value) if parts is None else _in_values(parts):
            if name not in _OURS and not _registers_ours(name) and not user_objects.is_of_script(name):
                yield option(field), name


def check(config: Any, source: object, *, allowed: bool, fields: Sequence[str] = TRAINING) -> None:
    """Print the code that will be imported because a file names it, or refuse the file.

    Args:
        source: the file or the run, for the message.
        allowed: false with --no-imports.
        fields: the options whose code will be imported.
    """
    found = ", ".join(f"{name} ({field})" for field, name in named(config, fields))
    if not found:
        return
    if not allowed:
        raise UserError(f"{source}: expected no names of code to import, got {found}")
    print(f"{source} names code, which is imported: {found}", file=sys.stderr, flush=True)


def _in_name(name: str) -> list[str]:
    """Return the name in an option's value if it names code, in a list."""
    for prefix in IN_ONE_CALL:
        name = name.removeprefix(prefix)
    return [name] if ":" in name else []


def _in_values(value: Any) -> Iterator[str]:
    """Yield the names of code within a value, at any depth."""
    if isinstance(value, str):
        module, _, name = value.partition(":")
        if module and name.isidentifier():  # as user_objects.load accepts it
            yield value
    elif isinstance(value, dict):
        yield from _in_values([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple | set):
        for one in value:
            yield from _in_values(one)


def _registers_ours(name: str) -> bool:
    """Return whether a name is a gymnasium id that our package registers, such as
    mpi_es:mpi_es/CarRacing-v3.
    """
    module, _, identifier = name.partition(":")
    return module == "mpi_es" and not identifier.isidentifier()
