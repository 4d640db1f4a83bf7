"""A config in parts: the run's own options, and those of the strategy and the policy that it names.

A part is a frozen dataclass next to what it configures, and a field of the config. On the command line, in
files and in presets all options are at one level, and the part's field takes the name.
"""

import functools
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from mpi_es.config.declared import Declared
from mpi_es.config.fields import CHANGEABLE, Needs, Of, check_ranges, hints_of, off, option
from mpi_es.config.user_objects import load
from mpi_es.errors import UserError, expected, unknown

C = TypeVar("C")


@dataclass(frozen=True)
class Named:
    """The options of something that a config names, such as a strategy."""

    name: str = ""  # the option of the part, not one of its fields

    def __post_init__(self) -> None:
        """Refuse values outside their ranges."""
        check_ranges(self)


@dataclass(frozen=True)
class Part:
    """A mark: the field is a part, whose option takes a built-in name or package.module:Class.

    Args:
        places: package.module:Class for each built-in name: a class with a dataclass `Options`, or that
            dataclass.
        own: package.module:Class of the options of a user's class that has no `Options`.
        imports: whether a user's class may have `Options`, for which it is imported.
    """

    places: Mapping[str, str]
    own: str
    imports: bool = True

    def options(self, flag: str, name: str, imports: bool = True) -> Any:
        """Return the options of a name, all at their defaults.

        Args:
            imports: whether to import a user's class, for its options.
        """
        if name in self.places:
            place = load(flag, self.places[name])
            return getattr(place, "Options", place)(name=name)
        if ":" not in name:
            raise unknown(flag, name, [*self.places, "package.module:Class"])
        found = load(flag, name) if imports and self.imports else None
        kind = getattr(found, "Options", None) or load(flag, self.own)
        if not (isinstance(kind, type) and issubclass(kind, Named)):
            raise expected(f"{flag} {name}: Options", "a dataclass derived from that of its base", kind)
        return kind(name=name)


def parts_of(cls: Any) -> Mapping[str, Part]:
    """Return the parts of a config by their fields."""
    return _parts(cls)


@functools.cache
def _parts(cls: Any) -> Mapping[str, Part]:
    marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints_of(cls).items()}
    return {name: mark for name, found in marks.items() for mark in found if isinstance(mark, Part)}


def declared(config: Any) -> dict[str, Declared]:
    """Return all options of a config, or of a class's defaults; those of a part follow the part's name."""
    return {one.name: one for one in _declared(config() if isinstance(config, type) else config)}


def _declared(config: Any, part: str = "") -> Iterator[Declared]:
    cls = type(config)
    hints, parts = hints_of(cls), parts_of(cls)
    for one in fields(cls):
        value, hint = getattr(config, one.name), hints[one.name]
        if one.name in parts:
            hint = Annotated[(str, *hint.__metadata__)]
            yield Declared(one.name, cls, hint, value.name, getattr(cls(), one.name).name, is_part=True)
            yield from _declared(value, one.name)
        elif one.name != "name" or not isinstance(config, Named):
            yield Declared(one.name, cls, hint, value, one.default, part)


def kinds(cls: type) -> dict[str, dict[str, dict[str, Declared]]]:
    """Return the options of the built-in strategies and policies: by part, by name, and by option."""
    return {
        name: {one: declared(part.options(option(name), one)) for one in part.places}
        for name, part in parts_of(cls).items()
    }


def every(cls: type) -> list[Declared]:
    """Return all options that a config may have, with those of every built-in part."""
    found = declared(cls)
    for part in kinds(cls).values():
        for options in part.values():
            found = options | found
    return list(found.values())


def flat(config: Any) -> dict[str, Any]:
    """Return the values of all options of a config."""
    return {name: one.value for name, one in declared(config).items()}


def given(config: Any) -> dict[str, Any]:
    """Return the names of the parts, and the options that differ from their defaults."""
    options = declared(config).values()
    return {one.name: one.value for one in options if one.is_part or one.value != one.default}


def suited(cls: type[C], values: Mapping[str, Any], *, imports: bool = True) -> C:
    """Return the config of these values; values of options that it does not have are ignored.

    Args:
        imports: whether to import a user's class, which may have options.
    """
    made, defaults, known = dict(values), cls(), hints_of(cls)
    for part, mark in parts_of(cls).items():
        options = getattr(defaults, part)
        name = values.get(part, options.name)
        if name != options.name:
            options = mark.options(option(part), name, imports)
            if taken := {one.name for one in fields(options)} & known.keys():
                rule = "names that no option of a run has"
                raise expected(f"{option(part)} {name}: Options", rule, ", ".join(sorted(taken)))
        own = {one.name: values[one.name] for one in fields(options) if one.name in values}
        made[part] = replace(options, **own)
    return cls(**{name: value for name, value in made.items() if name in known})


def built(cls: type[C], values: Mapping[str, Any]) -> C:
    """Return the config of these values, all others at their defaults;
    refuse an option that it does not have.
    """
    config = suited(cls, values)
    _refuse_strays(values, config)
    return config


def changed(config: C, **values: Any) -> C:
    """Return a config with other values; another strategy or policy keeps the options that it shares."""
    made = suited(type(config), given(config) | values)
    _refuse_strays(values, made)
    return made


def _refuse_strays(values: Mapping[str, Any], config: Any) -> None:
    known = declared(config)
    for name in values:
        if name not in known:
            raise stray(option(name), config)


def stray(flag: str, config: Any) -> UserError:
    """Return the error for an option that a config does not have: whose it is, or the nearest name."""
    name = flag.replace("--no-", "--", 1)
    for part, named in kinds(type(config)).items():
        own = declared(load(option(part), parts_of(type(config))[part].own))
        owners = [
            one
            for one, options in (named | {"a class of your own": own}).items()
            if any(name in each.names for each in options.values())
        ]
        if owners:
            chosen = f"{option(part)} {getattr(config, part).name}"
            whose = f"it is an option of {' or '.join(owners)}"
            return UserError(f"{flag}: expected to be left out with {chosen}: {whose}")
    return no_option(flag, name, [each for one in declared(config).values() for each in one.names])


def no_option(place: str, name: str, known: Iterable[str]) -> UserError:
    """Return the error for a name that no option has."""
    near = get_close_matches(name, known, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return UserError(f"{place}: no option has this name{meant} (--help lists the options)")


def changeable(config: Any) -> set[str]:
    """Return the options that may differ when a run is resumed."""
    return {name for name, one in declared(config).items() if CHANGEABLE in one.marks}


def without_effect(config: Any) -> dict[str, str]:
    """Return the options that have no effect in a config, each with the reason."""
    options, reasons = declared(config), {}
    for name, one in options.items():
        marks = [*(options[one.part].marks if one.part else ()), *one.marks]
        obstacles = [mark.obstacle(options) for mark in marks if isinstance(mark, Of | Needs)]
        if any(obstacles):
            reasons[name] = next(filter(None, obstacles))
    return reasons


def is_written(config: Any, one: Declared) -> bool:
    """Return whether a written config includes an option:
    if it differs from its default, and always for some.
    """
    return bool(one.value != one.default or one.name in getattr(config, "always_given", ()))


def as_options(config: Any) -> list[str]:
    """Return the command line of a config: its options that are not the defaults, and those always given."""
    return as_words({name: one.value for name, one in declared(config).items() if is_written(config, one)})


def stands_for(cls: type[C], preset: Mapping[str, Any]) -> tuple[str, str]:
    """Return the command line that a preset stands for, and the options that it has for other strategies."""
    config = suited(cls, preset)
    own = declared(config)
    others = {name: value for name, value in preset.items() if name not in own}
    return shlex.join(as_options(config)), shlex.join(as_words(others))


def as_words(values: Mapping[str, Any]) -> list[str]:
    """Return the command line of options."""
    words: list[str] = []
    for key, value in values.items():
        name = option(key)
        if isinstance(value, bool):
            words.append(name if value else off(name))
        else:
            words += [name, *(f"{item}" for item in (value if isinstance(value, tuple) else (value,)))]
    return words
