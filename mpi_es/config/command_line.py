"""The parser of the command line: a preset or a run's config, changed by the options that are given."""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, TypeVar

from mpi_es.config import config_file, parts
from mpi_es.config import help as help_pages
from mpi_es.config.config_file import ConfigFile
from mpi_es.config.declared import Declared
from mpi_es.config.fields import off, option
from mpi_es.config.parts import changeable, declared, every, flat, without_effect
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
        kind: the class of the config.
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


def parse_run(arguments: Sequence[str], default: C, program: str, must: bool = True) -> tuple[str, C]:
    """Return the run that the first argument names (empty if it names none), and the options after it.

    Args:
        must: refuse arguments without a run.
    """
    words = list(arguments)
    run = words.pop(0) if words and not words[0].startswith("-") else ""
    with _hint("RUN", filter(os.path.exists, () if run else words)):
        options = parse(words, default, {}, f"{program} RUN")
    if must and not run:
        raise UserError("RUN: expected the directory of a run as the first argument, got nothing")
    return run, options


def parse_runs(arguments: Sequence[str], default: C, program: str) -> tuple[list[str], C]:
    """Return the runs that the first arguments name, one or more, and the options after them."""
    runs = list(takewhile(lambda word: not word.startswith("-"), arguments))
    if not runs and not {*help_pages.FLAGS} & {*arguments}:
        raise UserError("RUN: expected directories of runs as the first arguments, got none")
    rest = arguments[len(runs) :]
    with _hint("RUN", filter(os.path.exists, rest)):
        return runs, parse(rest, default, {}, f"{program} RUN…")


@contextlib.contextmanager
def _hint(what: str, words: Iterable[str]) -> Iterator[None]:
    """If an error takes one of these words for an option, add that the word should come first."""
    try:
        yield
    except UserError as error:
        if any(str(error).startswith(f"{_flag(word)}: no option") for word in words):
            raise UserError(f"{error}; {what} is the first argument") from error
        raise


def continuing(arguments: Sequence[str], directory: str) -> list[str]:
    """Return the arguments that continue the run that `arguments` began in a directory."""
    resumes = any(word.partition("=")[0] == "--resume" for word in arguments)
    return [*arguments] if resumes else [*arguments, "--continue", "--run-dir", directory]


def translated(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, with options of other systems translated to ours."""
    words: list[str] = []
    for word in arguments:
        if word.partition("=")[0].replace("_", "-") == "--num-workers":
            raise UserError("--num-workers: expected mpiexec -n N before the command, which starts N ranks")
        words += ["--console", "lines"] if word == "--verbose" else [word]
    return words


def by_flag(options: Iterable[Declared]) -> dict[str, Declared]:
    """Return options by all their names; flags also by those that switch them off."""
    known = {name: one for one in options for name in one.names}
    return known | {off(name): one for name, one in known.items() if one.plain is bool}


def _flag(word: str) -> str:
    """Return the name in a word of the command line, which may have underscores."""
    return word.partition("=")[0].replace("_", "-")


def is_given(arguments: Sequence[str], name: str, config: Any) -> bool:
    """Return whether an option of a config, or of one of its class, is given under any of its names."""
    kind = config if isinstance(config, type) else type(config)
    one = declared(config).get(name) or next((one for one in every(kind) if one.name == name), None)
    names = {option(name)} if one is None else by_flag([one]).keys()  # a user's strategy may be unknown yet
    return not names.isdisjoint(map(_flag, arguments))


def refuse_unused(arguments: Sequence[str], names: Sequence[str], other: str, config: Any) -> None:
    """Refuse options that have no effect with `other`."""
    for name in names:
        if is_given(arguments, name, config):
            raise UserError(f"{option(name)}: expected to be left out, as it has no effect with {other}")


def warn_unused(arguments: Sequence[str], config: object, also: Mapping[str, str]) -> None:
    """Warn, on one line, of options in the arguments that have no effect with the config.

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
    minutes: Mapping[str, int] = {},
) -> C:
    """Return the config that the arguments describe: a preset's name, if any, then options.

    Args:
        extra: help on options that are not fields of the config.
        examples: commands with which the help begins.
        file: its options override those of the preset, and the arguments override both.
        imports: whether to import the user's strategy, which may have options.
        minutes: that presets take, where measured, for the help.
    """
    words, named = list(arguments), file.preset
    if words and not words[0].startswith("-"):
        named = words.pop(0)
        if not presets:
            raise UserError(f"{program}: expected options only, got {named!r}")
        if named not in presets:
            raise unknown("preset", named, presets)
    kind, chosen = type(default), dict[str, str]()
    for part in parts.parts_of(kind):
        value, words = take_option(words, option(part))
        chosen |= {} if value is None else {part: value}
    values = {**(presets[named] if named else parts.given(default)), **file.values, **chosen}
    # The names of the parts decide which options there are; all values are checked together, below.
    named_parts = {part: values[part] for part in parts.parts_of(kind) if part in values}
    config = parts.suited(kind, named_parts, imports=imports)
    for key in file.values:
        if key not in flat(config):
            if imports:
                raise parts.stray(option(key), config)
            del values[key]  # perhaps of the user's strategy
    topic = help_pages.topic_of(words)
    if topic is not None:
        usage = f"{program} {'[PRESET] ' if presets else ''}[options]"
        config = parts.suited(kind, values, imports=imports)
        print(help_pages.Page(usage, config, named, presets, minutes, extra, examples).text(topic), end="")
        raise SystemExit(0)
    with _hint("PRESET", (word for word in words if word in presets)):
        given = _values(words, config, imports)
    return parts.suited(kind, values | given, imports=imports)


def _values(arguments: Sequence[str], config: Any, imports: bool) -> dict[str, Any]:
    """Return the values that arguments give the options of a config.

    Args:
        imports: whether all options are known: those of a user's strategy that is not imported are not.
    """
    known, words = by_flag(declared(config).values()), list(arguments)
    values: dict[str, Any] = {}
    while words:
        flag, has_value, value = words.pop(0).partition("=")
        one = known.get(_flag(flag))
        if one is None:
            if imports:
                raise parts.stray(_flag(flag), config)
            continue
        given = [value] if has_value else []
        while words and not words[0].startswith("--") and (one.is_list or not (given or one.plain is bool)):
            given.append(words.pop(0))
        values[one.name] = one.of_words(given, flag, is_off=_flag(flag) not in one.names)
    return values


def check_resumed(stored: C, wanted: C) -> None:
    """Refuse options that would change what a resumed run learns."""
    allowed, before, after = changeable(stored), flat(stored), flat(wanted)
    for name, old in before.items():
        if name not in allowed and after.get(name) != old:
            rule = "a resumed run can change only the options that do not affect learning"
            if name == "run_dir":
                rule = "to continue the run elsewhere, move its directory"
            raise UserError(
                f"{option(name)}: expected {old!r}, with which the run began, got {after.get(name)!r}; {rule}"
            )
