"""The arguments of a VectorEnv's constructor and reset. An error names the keyword."""

from operator import index
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from mpi_es.errors import expected
from mpi_es.worlds.options import is_whole

_MOST = 2**63 - 1  # the largest seed


def counts(**given: object) -> None:
    """Refuse values that are not whole numbers from 1."""
    for name, value in given.items():
        if not is_whole(value) or value < 1:
            raise expected(name, "a whole number from 1", value)


def autoreset(mode: AutoresetMode | str) -> AutoresetMode:
    """Return gymnasium's mode."""
    names = [each.value for each in AutoresetMode]
    if not isinstance(mode, AutoresetMode) and mode not in names:
        raise expected("autoreset_mode", f"one of {', '.join(names)}", mode)
    return AutoresetMode(mode)


def seeds(seed: Any, count: int) -> NDArray[np.int64]:
    """Return a seed for each environment, -1 for none.

    Args:
        seed: of the first environment, the others get the following ones; or one for each; or None.
    """
    if seed is None:
        return np.full(count, -1)
    try:
        one = isinstance(seed, int | np.integer)
        listed = [int(seed) + i for i in range(count)] if one else list(seed)
        numbers = [-1 if each is None else index(each) for each in listed]
    except TypeError:  # a float, or a list of others than integers
        numbers = []
    if len(numbers) != count:
        raise expected("seed", f"an integer or a list of {count}", seed)
    if wrong := [each for each in listed if each is not None and not 0 <= each <= _MOST]:
        raise expected("seed", f"numbers from 0 to {_MOST}", wrong[0])
    return np.array(numbers, np.int64)


def reset_mask(mask: Any, count: int) -> NDArray[np.bool_]:
    """Return which environments begin an episode."""
    if mask is None:
        return np.ones(count, np.bool_)
    given = np.asarray(mask)
    if given.shape != (count,) or given.dtype != np.bool_ or not given.any():
        raise expected("reset_mask", f"a bool array ({count},) with at least one True", mask)
    return given
