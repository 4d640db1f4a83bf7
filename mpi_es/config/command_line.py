"""The parser of the command line: a preset or a run's config, changed by the options that are given."""

import contextlib
import difflib
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import tyro

from mpi_es.config import config_file, parts
from mpi_es.config import help as help_pages
from mpi_es.config.config_file import ConfigFile
from mpi_es.config.fields import option
from mpi_es.config.parts import changeable, declared, every, flat, without_effect
from mpi_es.errors import UserError, unknown, warn

C = TypeVar("C")
_FLAT = (tyro.conf.OmitArgPrefixes,)  # options of parts are named as all others
NO_FILE = ConfigFile()
_HELP = "--help lists the options"


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
def naming_file(file: ConfigFile, arguments: Sequence[str], kind: Any) -> Iterator[None]:
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


def is_given(arguments: Sequence[str], name: str, config: Any) -> bool:
    """Return whether an option of a config, or of one of its class, is given under any of its names."""
    one = declared(config).get(name) or next(one for one in every(config) if one.name == name)
    names = one.names + [each.replace("--", "--no-", 1) for each in one.names]  # of a flag
    return any(word.partition("=")[0].replace("_", "-") in names for word in arguments)


def refuse_idle(arguments: Sequence[str], names: Sequence[str], other: str, config: Any) -> None:
    """Refuse options that have no effect with another."""
    for name in names:
        if is_given(arguments, name, config):
            raise UserError(f"{option(name)}: expected to be left out, as it has no effect with {other}")


def warn_idle(arguments: Sequence[str], config: object, also: Mapping[str, str]) -> None:
    """Warn, in one line, of options that are among the arguments and have no effect with the config.

    Args:
        also: other fields without effect, each with the reason.
    """
    reasons: dict[str, list[str]] = {}
    for name, reason in ({**also} | without_effect(config)).items():
        if is_given(arguments, name, config):
            reasons.setdefault(reason, []).append(option(name))
    if reasons:
        warn("; ".join(f"no effect {reason}: {', '.join(names)}" for reason, names in reasons.items()))


def parse(
    arguments: Sequence[str],
    default: C,
    presets: Mapping[str, Mapping[str, Any]],
    program: str,
    extra: str = "",
    examples: Sequence[help_pages.Example] = (),
    file: ConfigFile = NO_FILE,
    imports: bool = True,
) -> C:
    """Return the config that the arguments describe: a preset's name, if any, then options.

    Args:
        extra: help on options that are not fields of the config.
        examples: commands with which the help begins.
        file: what it holds comes on top of the preset and below the options.
        imports: the code of a strategy of the user's own, which may have options.
    """
    words, named = list(arguments), file.preset
    if words and not words[0].startswith("-"):
        named = words.pop(0)
        if not presets:
            raise UserError(f"{program}: expected options only, got {named!r}")
        if named not in presets:
            raise unknown("preset", named, presets)
    begin = presets[named] if named else parts.given(default)
    chosen: dict[str, Any] = {}
    for part in parts.parts_of(type(default)):
        value, words = take_option(words, option(part))
        chosen |= {} if value is None else {part: value}
    values = {**begin, **file.values, **chosen}
    default = parts.suited(type(default), values, imports=imports, checked=False)
    for key in file.values:
        if key not in flat(default):
            raise parts.stray(key, default)
    topic = help_pages.topic_of(words)
    if topic is not None:
        usage = f"{program} {'[PRESET] ' if presets else ''}[options]"
        print(help_pages.Page(usage, default, named, presets, extra, examples).text(topic), end="")
        raise SystemExit(0)
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            return tyro.cli(type(default), args=words, default=default, prog=program, config=_FLAT)
    except SystemExit as end:
        said = condensed(complaint.getvalue())
        unknown_one = re.search(r"Unrecognized options?: (--(?:no-)?)([\w-]+)", said)
        if unknown_one and (whose := parts.owners(unknown_one[2], default)):
            raise UserError(f"{unknown_one[1]}{unknown_one[2]}: {whose}") from end
        names = [name for one in declared(default).values() for name in one.names]
        near = difflib.get_close_matches(f"--{unknown_one[2]}", names, 1) if unknown_one else []
        raise UserError(f"{said}{f'; did you mean {near[0]}?' if near else ''} ({_HELP})") from end


def condensed(box: str) -> str:
    """Return the first part of tyro's boxed complaint as one line."""
    lines = [line.strip("│ ").strip() for line in box.splitlines() if line.startswith("│")]
    rules = [number for number, line in enumerate(lines) if set(line) <= {"─"}]
    return " ".join(lines[: rules[0]] if rules else lines) or " ".join(box.split())


def check_resumed(stored: C, wanted: C) -> None:
    """Refuse options that would change what a resumed run learns."""
    allowed, before, after = changeable(stored), flat(stored), flat(wanted)
    for name, old in before.items():
        if name not in allowed and after.get(name) != old:
            raise UserError(
                f"{option(name)}: expected {old!r}, with which the run began, got {after.get(name)!r}; "
                "a resumed run can change only the options that do not affect learning"
            )
