"""Errors of numba about a world, on one line with the function and the line at fault."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import types as numba_types
from numba.core.errors import NumbaError

from mpi_es.errors import UserError, expected
from mpi_es.worlds.user_world import as_compiled
from mpi_es.worlds.world import facts_of, new_state

types: Any = numba_types  # its classes are not in its stubs
_REMEDIES = {  # by a part of numba's message
    "<class 'function'>": "decorate it with numba.njit",
    "setitem(readonly array": "a global array is constant: keep changing values in fresh",
    "STORE_GLOBAL": "a global is constant: keep changing values in fresh",
    "AssertionError": "is an array of fresh replaced? write to its elements",
}


@contextlib.contextmanager
def explained(world: Any) -> Iterator[None]:
    """Around code that compiles a world with other code: name the function at fault in an error."""
    try:
        yield
    except Exception as error:  # numba lets some exceptions of other types through
        found = mistake(world)
        if found is None:
            raise
        raise found from error


def mistake(world: Any) -> UserError | None:
    """Return the first mistake in a world's functions, compiled one by one."""
    state, space = new_state(world), world.observation_space
    action: Any = np.zeros(world.action_space.shape, np.float32) if world.action_space.shape else 0
    given = {"reset": 0, "step": action, "observe": np.zeros(space.shape, space.dtype)}
    if facts_of(world):
        given["tell"] = np.zeros(len(facts_of(world)), np.bool_)
    for part, argument in given.items():
        function = as_compiled(getattr(world, part)).callee
        kinds = numba.typeof(state), numba.typeof(argument)
        try:
            function.compile(kinds)
        except Exception as error:
            return UserError(f"--env: numba refuses {part}: {reason(error, 'fresh')}")
        returned = function.overloads[kinds].signature.return_type
        if part == "step" and not _is_step(returned):
            return expected("--env", "a number and a bool from step, (reward, over)", str(returned))
    return None


def _is_step(returned: Any) -> bool:
    """Return whether a return type is that of `step`: a reward, and whether the episode is over."""
    kinds = (types.Number | types.Boolean, types.Integer | types.Boolean)
    pair = isinstance(returned, types.BaseTuple) and len(returned) == len(kinds)
    return pair and all(map(isinstance, returned, kinds))


def reason(error: Exception, names: str) -> str:
    """Return the first sentence of numba's message, and the source line at fault.

    Args:
        names: where the names of a record's fields come from.
    """
    text = re.sub(r"\x1b\[\d*m", "", str(error))
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Failed in nopython mode")] or [""]
    told = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    told = re.sub(r"Record\(.*;(True|False)\)", "the record", told)
    if isinstance(error, KeyError):
        told = f"{names} has no {told}"
    elif not isinstance(error, NumbaError):
        told = f"{type(error).__name__}: {told}"
    places = re.findall(r'File "(.*)", line (\d+)', text)
    where = f" ({Path(places[0][0]).name}, line {places[0][1]})" if places else ""
    remedies = [remedy for sign, remedy in _REMEDIES.items() if sign in f"{told} {text}"]
    return "; ".join([told + where, *remedies])
