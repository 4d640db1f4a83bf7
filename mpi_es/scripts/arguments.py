"""From the arguments of a script's call to a config."""

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from mpi_es import strategies
from mpi_es.config.fields import option as flag
from mpi_es.config.parts import changed, declared, every, suited, without_effect
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config
from mpi_es.config.user_objects import words_of
from mpi_es.errors import UserError, unknown

OTHER_NAMES = {  # of other libraries
    "popsize": "population_size",
    "maxiter": "max_iter",
    "maxfevals": "max_evaluations",
    "max_generations": "max_iter",
}


def config_of(
    caller: Callable[..., Any],
    evolved: Mapping[str, Any],
    given: Mapping[str, Any],
    options: Mapping[str, Any],
    hidden: Collection[str],
    *,
    other_names: Mapping[str, str] = OTHER_NAMES,
    preset: str = "",
) -> Config:
    """Return the config of a call; refuse options without effect or of the wrong type.

    Args:
        caller: the function that was called with these options besides its own arguments.
        evolved: the fields that name the environment, policy or function, and the strategy.
        given: other fields that arguments of the caller set.
        hidden: fields that are not options of the caller.
        other_names: our names, by the names in other libraries.
        preset: which all other arguments override; empty for none.
    """
    if preset and preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    names = {name: declared(Config)[name].converted(value, flag(name)) for name, value in evolved.items()}
    begun = suited(Config, PRESETS.get(preset, {}) | names)
    possible = {one.name: one for one in every(Config)} | declared(begun)
    known = possible.keys() - {*hidden, *given, *evolved}
    for option in options:
        if option not in known:
            if option in other_names:
                raise UserError(f"{caller.__name__}: expected {other_names[option]}, got {option!r}")
            parameters = inspect.signature(caller).parameters.values()
            own = {one.name for one in parameters if one.kind is not one.VAR_KEYWORD}
            suitable = known & declared(begun).keys() - without_effect(begun).keys()
            raise unknown(caller.__name__, option, suitable | own)
    values = {
        option: possible[option].converted(_plain(value, option), flag(option))
        for option, value in {**given, **options}.items()
    }
    config = changed(begun, **values)
    refuse_without_effect(options, without_effect(config))
    strategies.check(config)
    return config


def refuse_without_effect(options: Collection[str], reasons: Mapping[str, str]) -> None:
    """Refuse an option that has no effect.

    Args:
        reasons: by field without effect.
    """
    for option, reason in reasons.items():
        if option in options:
            raise UserError(f"{option}: expected to be left out, as it has no effect {reason}")


def _plain(value: Any, option: str) -> Any:
    """Return a value as files hold it: a Python number, a list, and for a dict a list of name=value."""
    if isinstance(value, dict):
        return words_of(value, flag(option))
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    plain = value.tolist() if hasattr(value, "tolist") else value  # of numpy or torch
    if not isinstance(plain, Iterable) or isinstance(plain, str):
        return plain
    return [one.item() if isinstance(one, np.generic) else one for one in plain]
