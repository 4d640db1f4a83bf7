"""A config in parts: the run's own options, and those of the strategy and the policy that it names.

A part is a frozen dataclass next to what it configures, and a field of the config. On the command line, in
files and in presets all options lie side by side, and the part's field stands for the name.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import MISSING, Field, dataclass, fields
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import tyro

from mpi_es.config.fields import CHANGEABLE, Needs, Of, Unless, check_ranges, option
from mpi_es.config.user_objects import load
from mpi_es.errors import UserError, expected, unknown

C = TypeVar("C")
EFFECTS = (Of, Unless, Needs)


Name = Annotated[str, tyro.conf.Fixed, tyro.conf.Suppress]  # the option of the part, not one of its fields


@dataclass(frozen=True)
class Named:
    """Options of what a config names."""

    name: Name = ""

    def __post_init__(self) -> None:
        """Refuse values that no run can have."""
        check_ranges(self)


# The type of a part's field. What options it has depends on the name; tyro takes the type of the default.
if TYPE_CHECKING:
    Chosen = Any
else:
    Chosen = Named


@dataclass(frozen=True, eq=False)  # hashed by tyro
class Part:
    """A mark: the field holds the options of what its option names.

    Args:
        places: package.module:Class by the names of the built-in ones. A class has its options as `Options`.
        own: of the options of a class of the user's own that has none.
        imports: whether a class of the user's own may have options, for which it is imported.
    """

    places: Mapping[str, str]
    own: str
    imports: bool = True

    def options(self, flag: str, name: str, imports: bool = True) -> Any:
        """Return the options of a name, all at their defaults.

        Args:
            imports: the module of one of the user's own, for its options.
        """
        if name in self.places:
            return load(flag, self.places[name]).Options(name=name)
        if ":" not in name:
            raise unknown(flag, name, [*self.places, "package.module:Class"])
        found = load(flag, name) if imports and self.imports else None
        kind = getattr(found, "Options", None) or load(flag, self.own)
        if not (isinstance(kind, type) and issubclass(kind, Named)):
            raise expected(f"{flag} {name}: Options", "a dataclass derived from that of its base", kind)
        return kind(name=name)


@dataclass(frozen=True)
class Declared:
    """An option of a config, as its field declares it."""

    name: str
    owner: type  # the dataclass whose field it is
    hint: Any  # its annotation, with the marks
    value: Any
    default: Any
    is_part: bool = False  # its value is the part's name

    @property
    def marks(self) -> tuple[Any, ...]:
        """What its annotation has in addition to the type."""
        return getattr(self.hint, "__metadata__", ())

    @property
    def plain(self) -> Any:
        """Its type."""
        hint = self.hint
        while get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        return hint

    @property
    def names(self) -> list[str]:
        """All names on the command line."""
        return [option(self.name)] + [
            alias for mark in self.marks for alias in getattr(mark, "aliases", None) or ()
        ]


def part_of(hint: Any) -> Part | None:
    """Return the mark of a part, where an annotation has one."""
    return next((mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Part)), None)


def parts_of(cls: type) -> dict[str, Part]:
    """Return the parts of a config by their fields."""
    hints = get_type_hints(cls, include_extras=True)
    found = {one.name: part_of(hints[one.name]) for one in fields(cls)}
    return {name: part for name, part in found.items() if part}


def declared(config: Any) -> dict[str, Declared]:
    """Return all options of a config, those of a part behind its name; of a class, those of its defaults."""
    return {one.name: one for one in _declared(config() if isinstance(config, type) else config)}


def _declared(config: Any, outer: tuple[Any, ...] = ()) -> Iterator[Declared]:
    cls = type(config)
    hints = get_type_hints(cls, include_extras=True)
    for one in fields(cls):
        value, hint = getattr(config, one.name), hints[one.name]
        if one.name == "name" and isinstance(config, Named):
            continue
        if part_of(hint) is None:
            yield Declared(one.name, cls, _marked(hint, outer), value, one.default)
            continue
        default = _default(one).name
        plain = Annotated[(str, *hint.__metadata__)]
        yield Declared(one.name, cls, plain, value.name, default, is_part=True)
        yield from _declared(value, tuple(mark for mark in hint.__metadata__ if isinstance(mark, EFFECTS)))


def _default(one: Field[Any]) -> Any:
    assert one.default_factory is not MISSING, "a part has a default"
    return one.default_factory()


def _marked(hint: Any, marks: tuple[Any, ...]) -> Any:
    """Return an annotation with more marks."""
    return Annotated[(hint, *marks)] if marks else hint


def every(config: Any) -> list[Declared]:
    """Return all options that a config, or one of a class, may have, with those of every built-in part."""
    found = declared(config)
    cls = config if isinstance(config, type) else type(config)
    for name, part in parts_of(cls).items():
        for one in part.places:
            own = {each.name: each for each in _declared(part.options(option(name), one))}
            found = own | found
    return list(found.values())


def flat(config: Any) -> dict[str, Any]:
    """Return the values of all options of a config."""
    return {name: one.value for name, one in declared(config).items()}


def given(config: Any) -> dict[str, Any]:
    """Return the names of the parts, and the options that differ from their defaults."""
    options = declared(config).values()
    return {one.name: one.value for one in options if one.is_part or one.value != one.default}


def built(cls: type[C], values: Mapping[str, Any]) -> C:
    """Return the config of these values, all others at their defaults; refuse an option that it has not."""
    config, rest = _built(cls, values)
    for name in rest:
        raise stray(name, config)
    return config


def changed(config: C, **values: Any) -> C:
    """Return a config with other values; another strategy or policy takes what it has too."""
    made, rest = _built(type(config), given(config) | values)
    for name in values:
        if name in rest:
            raise stray(name, made)
    return made


def suited(cls: type[C], values: Mapping[str, Any], *, imports: bool = True, checked: bool = True) -> C:
    """Return the config of these values without those that it has no option for, as of another strategy.

    Args:
        imports: code of the user's own, which may have options.
        checked: false where other values follow, with which these are to be checked together.
    """
    return _built(cls, values, imports, checked)[0]


def _built(
    cls: type[C], values: Mapping[str, Any], imports: bool = True, checked: bool = True
) -> tuple[C, dict[str, Any]]:
    """Return the config, and the values that it has no option for."""
    rest, made = dict(values), {}
    parts = parts_of(cls)
    for one in fields(cls):  # type: ignore[arg-type]
        if one.name in parts:
            options = _default(one)
            name = rest.pop(one.name, options.name)
            if name != options.name:
                options = parts[one.name].options(option(one.name), name, imports)
            names = {each.name for each in fields(options)} - {"name"}
            own = {each: rest.pop(each) for each in names & rest.keys()}
            made[one.name] = _made(type(options), vars(options) | own, checked)
        elif one.name in rest:
            made[one.name] = rest.pop(one.name)
    return _made(cls, made, checked), rest


def _made(cls: type[C], values: Mapping[str, Any], checked: bool) -> C:
    """Return an object of a dataclass with these values, unchecked if they are not the last ones."""
    if checked:
        return cls(**values)
    made = copy(cls())
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def stray(name: str, config: Any) -> UserError:
    """Return the error of an option that a config has not, which says whose it is."""
    whose = owners(name, config)
    return UserError(f"{option(name)}: {whose}") if whose else unknown("option", name, declared(config))


def owners(name: str, config: Any) -> str:
    """Return of which strategies or policies an option is that a config has not; empty if of none."""
    for part, mark in parts_of(type(config)).items():
        flag, chosen = option(part), getattr(config, part).name
        kinds = {one: declared(mark.options(flag, one)).values() for one in mark.places}
        kinds["a class of your own"] = declared(load(flag, mark.own)).values()
        found = [one for one, kind in kinds.items() if any(option(name) in own.names for own in kind)]
        if found:
            return f"expected to be left out with {flag} {chosen}: it is an option of {' or '.join(found)}"
    return ""


def changeable(config: Any) -> set[str]:
    """Return the options that may differ when a run is resumed."""
    return {name for name, one in declared(config).items() if CHANGEABLE in one.marks}


def without_effect(config: Any) -> dict[str, str]:
    """Return the options that have no effect in a config, each with the reason."""
    view, idle = SimpleNamespace(**flat(config)), {}
    for name, one in declared(config).items():
        obstacles = [mark.obstacle(view) for mark in one.marks if isinstance(mark, EFFECTS)]
        if any(obstacles):
            idle[name] = next(filter(None, obstacles))
    return idle
