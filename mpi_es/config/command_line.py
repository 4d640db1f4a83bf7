"""The parser of the command line: a preset or a run's config, changed by the options that are given."""

import contextlib
import dataclasses
import difflib
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import tyro

from mpi_es.config import config_file
from mpi_es.config import help as help_pages
from mpi_es.config.config_file import ConfigFile
from mpi_es.config.fields import changeable, names_of, without_effect
from mpi_es.errors import UserError, unknown, warn

C = TypeVar("C")
NO_FILE = ConfigFile()


def take_option(arguments: Sequence[str], name: str) -> tuple[str | None, list[str]]:
    """Return the value of one option (None if it is not given) and the other arguments."""
    rest: list[str] = []
    value = None
    words = iter(arguments)
    for word in words:
        if word == name:
            value = next(words, None)
            if value is None or value.startswith("--"):
                raise UserError(f"{name}: expected a value, got nothing")
        elif word.startswith(name + "="):
            value = word.removeprefix(name + "=")
        else:
            rest.append(word)
    return value, rest


def take_flag(arguments: Sequence[str], name: str) -> tuple[bool, list[str]]:
    """Return whether a flag is given, and the other arguments."""
    return name in arguments, [word for word in arguments if word != name]


def take_file(
    arguments: Sequence[str], kind: type, presets: Mapping[str, Any]
) -> tuple[ConfigFile, list[str]]:
    """Return the options in the file of `--config FILE`, none without it, and the other arguments.

    Args:
        kind: of the config.
    """
    path, rest = take_option(arguments, "--config")
    resumes = any(word.partition("=")[0] == "--resume" for word in rest)
    return NO_FILE if path is None else config_file.read(path, kind, {} if resumes else presets), rest


@contextlib.contextmanager
def naming_file(file: ConfigFile, arguments: Sequence[str], kind: type) -> Iterator[None]:
    """Where an error names an option that comes from the file, name the file and its key instead."""
    try:
        yield
    except UserError as error:
        named = re.match(r"--([a-z0-9-]+)", str(error))
        name = named[1].replace("-", "_") if named else ""
        if not named or name not in file.values or is_given(arguments, name, kind):
            raise
        raise UserError(f"{file.path}: {file.keys[name]}{str(error)[named.end() :]}") from error


def take_run(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the run that the first argument names (empty if it names none) and the other arguments."""
    words = list(arguments)
    return words.pop(0) if words and not words[0].startswith("-") else "", words


def parse_run(arguments: Sequence[str], default: C, program: str, must: bool = True) -> tuple[str, C]:
    """Return the run that the first argument names, and the options after it.

    Args:
        must: refuse arguments without a run.
    """
    run, words = take_run(arguments)
    try:
        options = parse(words, default, {}, f"{program} RUN")
    except UserError as error:
        if run or not any(os.path.exists(word) for word in words):
            raise
        raise UserError(f"{error}; RUN is the first argument") from error
    if must and not run:
        raise UserError("RUN: expected the directory of a run as the first argument, got nothing")
    return run, options


def continued(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that continue the training that these began."""
    given = any(word.partition("=")[0] in ("--resume", "--continue") for word in arguments)
    return [*arguments] if given else [*arguments, "--continue"]


def translated(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, with options of the systems that we replace translated to ours."""
    words: list[str] = []
    for word in arguments:
        if word.partition("=")[0].replace("_", "-") == "--num-workers":
            raise UserError("--num-workers: expected mpiexec -n N before the command, which starts N ranks")
        words += ["--console", "lines"] if word == "--verbose" else [word]
    return words


def is_given(arguments: Sequence[str], name: str, config: type) -> bool:
    """Return whether an option of a config is among the arguments, under any of its names."""
    names = names_of(name, config)
    names += [name.replace("--", "--no-", 1) for name in names]  # of a flag
    return any(word.partition("=")[0].replace("_", "-") in names for word in arguments)


def refuse_idle(arguments: Sequence[str], names: Sequence[str], other: str, config: type) -> None:
    """Refuse options that have no effect with another."""
    for name in names:
        if is_given(arguments, name, config):
            option = names_of(name, config)[0]
            raise UserError(f"{option}: expected to be left out, as it has no effect with {other}")


def warn_idle(arguments: Sequence[str], config: object, also: Mapping[str, str]) -> None:
    """Warn, in one line, of options that are among the arguments and have no effect with the config.

    Args:
        also: other fields without effect, each with the reason.
    """
    reasons: dict[str, list[str]] = {}
    for name, reason in ({**also} | without_effect(config)).items():
        if is_given(arguments, name, type(config)):
            reasons.setdefault(reason, []).append(names_of(name, type(config))[0])
    if reasons:
        warn("; ".join(f"no effect {reason}: {', '.join(names)}" for reason, names in reasons.items()))


def parse(
    arguments: Sequence[str],
    default: C,
    presets: Mapping[str, C],
    program: str,
    extra: str = "",
    examples: Sequence[help_pages.Example] = (),
    file: ConfigFile = NO_FILE,
) -> C:
    """Return the config that the arguments describe: a preset's name, if any, then options.

    Args:
        extra: help on options that are not fields of the config.
        examples: commands with which the help begins.
        file: what it holds comes on top of the preset and below the options.
    """
    words = list(arguments)
    default = presets[file.preset] if file.preset else default
    if words and not words[0].startswith("-"):
        name = words.pop(0)
        if not presets:
            raise UserError(f"{program}: expected options only, got {name!r}")
        if name not in presets:
            raise unknown("preset", name, presets)
        default = presets[name]
    topic = help_pages.topic_of(words)
    if topic is not None:
        usage = f"{program} {'[PRESET] ' if presets else ''}[options]"
        print(help_pages.Page(usage, default, presets, extra, examples).text(topic), end="")
        raise SystemExit(0)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.cli(type(default), args=words, default=file.over(default), prog=program)
    except SystemExit as end:
        raise UserError(condensed(complaint.getvalue())) from end


def condensed(box: str) -> str:
    """Return tyro's boxed complaint as one line, with the nearest of its suggestions."""
    lines = [line.strip("│ ").strip() for line in box.splitlines() if line.startswith("│")]
    rules = [number for number, line in enumerate(lines) if set(line) <= {"─"}]
    said = " ".join(lines[: rules[0]] if rules else lines) or " ".join(box.split())
    meant = "\n".join(lines).partition("Perhaps you meant:")[2]
    begun_by_a_name = re.findall(r"^ *--.*", meant, re.MULTILINE)  # the other lines are help
    names = re.findall(r"--[\w-]+", " ".join(begun_by_a_name))
    given = re.findall(r"--[\w-]+", said) or [""]
    hint = f"; did you mean {difflib.get_close_matches(given[0], names, 1, 0)[0]}?" if names else ""
    return f"{said}{hint} (--help lists the options)"


def check_resumed(stored: C, wanted: C) -> None:
    """Refuse options that would change what a resumed run learns."""
    allowed = changeable(type(stored))
    for field in dataclasses.fields(stored):  # type: ignore[arg-type]
        old, new = getattr(stored, field.name), getattr(wanted, field.name)
        if old != new and field.name not in allowed:
            option = "--" + field.name.replace("_", "-")
            raise UserError(
                f"{option}: expected {old!r}, with which the run began, got {new!r}; "
                "a resumed run can change only the options that do not affect learning"
            )
