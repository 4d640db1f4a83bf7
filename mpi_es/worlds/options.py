"""Checks of the options of a world and of its environments. An error names the keyword."""

from numbers import Integral, Real
from typing import TypeGuard

import numpy as np

from mpi_es.errors import expected


def flag(name: str, value: object) -> bool:
    """Return an option that is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise expected(name, "True or False", value)
    return bool(value)


def number(name: str, value: object) -> float:
    """Return an option that is a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise expected(name, "a number", value)
    return float(value)


def step_limit(steps: object, registered: int) -> int:
    """Return the steps after which an episode is cut; 0 is none.

    Args:
        steps: the user's value; None is the registered limit, -1 is none.
        registered: the limit of the environment's id, 0 for none.
    """
    if steps is None:
        return registered
    if not is_whole(steps) or not (steps == -1 or steps > 0):
        raise expected("max_episode_steps", "a whole number from 1, or -1", steps)
    return max(int(steps), 0)


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer, of Python or of numpy."""
    return isinstance(value, Integral) and not isinstance(value, bool)
