"""A user's world: checks of what it must have, and its functions, which numba decorates."""

from functools import cache
from types import MethodType
from typing import Any

import numpy as np
from gymnasium import spaces
from numba.core.dispatcher import Dispatcher

from mpi_es.errors import expected
from mpi_es.jit.decorator import Compiled
from mpi_es.worlds.options import is_whole

FUNCTIONS = ("reset", "step", "observe")
_PARTS = (*FUNCTIONS, "observation_space", "action_space", "limit")


def check(world: Any, name: str) -> None:
    """Refuse a world that cannot be compiled.

    Args:
        name: how errors name it.
    """
    state = () if hasattr(world, "allocate") else ("fresh",)
    missing = [part for part in (*_PARTS, *state) if not hasattr(world, part)]
    if missing:
        rule = f"a world with {', '.join((*_PARTS, 'fresh'))}"
        raise expected("world", rule, name, f"it has no {missing[0]}")
    _check_functions(world, name)
    if state:
        _check_fresh(world.fresh)
    if not isinstance(world.observation_space, spaces.Box):
        raise expected("world", "a Box as observation_space", world.observation_space)
    action = world.action_space
    is_box = isinstance(action, spaces.Box) and action.dtype == np.float32 and len(action.shape) == 1
    if not is_box and not isinstance(action, spaces.Discrete):
        raise expected("world", "a Discrete or a Box (n,) of float32 as action_space", action)
    if not is_whole(world.limit) or world.limit < 0:
        raise expected("world", "a whole number from 0 as limit", world.limit)


def _check_functions(world: Any, name: str) -> None:
    """Refuse functions that are not compiled, or that lack a function they need."""
    lanes = ("step_lanes",) if hasattr(world, "step_lanes") else ()
    facts = getattr(world, "facts", ())
    if isinstance(facts, str):
        raise expected("world", "a tuple of names as facts", facts, f"({facts!r},) holds one")
    tells = ("tell",) if facts else ()
    if tells and not hasattr(world, "tell"):
        raise expected("world", "tell(state, out), which writes the facts", name, "it has none")
    for part in (*FUNCTIONS, *lanes, *tells):
        found = getattr(world, part)
        if not isinstance(found, Dispatcher | Compiled):
            # Python makes a method of a function that is an attribute of the class.
            hint = f"set self.{part} = {part} in the constructor" if isinstance(found, MethodType) else ""
            raise expected("world", f"{part} decorated with numba.njit", found, hint)
    if lanes and hasattr(world, "allocate"):
        raise expected("world", "a record as the state of a world with step_lanes", name, "it has allocate")
    if lanes and not hasattr(world, "scratch"):
        raise expected("world", "scratch(), the working space of step_lanes", name, "it has none")


def _check_fresh(fresh: Any) -> None:
    """Refuse a state that compiled code cannot read."""
    if not isinstance(fresh, np.ndarray) or fresh.shape != (1,) or not fresh.dtype.names:
        raise expected("world", "fresh from mpi_es.worlds.record", fresh)
    _check_record(fresh.dtype)


def _check_record(record: Any) -> None:
    for field, (kind, *_) in record.fields.items():
        if kind.base.names:
            _check_record(kind.base)
        elif kind.base.kind not in "iuf" and kind != np.bool_:  # numba has no arrays of bool in records
            rule = f"an integer, a float, a record or an array of these as {field} in fresh"
            raise expected("world", rule, kind.base.name, "np.int8 holds true and false")


@cache
def as_compiled(function: Any) -> Any:
    """Return a user's function as a Compiled one, so that numba caches its code with that of the episode."""
    if not isinstance(function, Dispatcher):
        return function
    given = function.targetoptions
    options = {name: given[name] for name in ("fastmath", "error_model") if name in given}
    return Compiled(function.py_func, {"nogil": True} | options)
