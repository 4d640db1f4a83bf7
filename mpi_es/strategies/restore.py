"""A strategy's state from a run file, which has the fields, types and shapes of those that it makes."""

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from mpi_es.config.fields import LARGEST
from mpi_es.errors import UserError, expected, one_line
from mpi_es.run_file.checkpoint import from_plain, to_plain
from mpi_es.strategies.user_strategy import UserStrategy

MOST = 2**53  # of what is counted
# Arrays with any number of rows, and what the strategy itself looks at when the state is assigned.
_ANY_ROWS = ("parents", "best", "median")
_LOOKED_AT = ("values", "inner")
_MAY_BE_INFINITE = ("highest_mean", "spread", "best", "median")  # of fitness


def restore(strategy: Any, stored: dict[str, Any], generation: int) -> None:
    """Assign a state that a run file holds, or refuse it in one line.

    Args:
        generation: of the run.
    """
    example = strategy.state
    if isinstance(strategy, UserStrategy):  # whose states may grow
        try:
            strategy.state = from_plain(type(example), stored)
        except Exception as error:
            raise UserError(f"/state: --strategy {strategy.name} refuses it: {one_line(error)}") from error
        return
    check_like(stored, to_plain(example), "/state")
    for name in ("generation", "begun"):
        if stored.get(name, 0) > generation:
            raise expected(f"/state/{name}", f"at most {generation}", stored[name])
    strategy.state = from_plain(type(example), stored)


def check_like(stored: Any, example: Any, place: str) -> None:
    """Refuse a state that differs from an example in more than its numbers."""
    if isinstance(example, dict):
        check_names(stored, example, place)
        for name, inner in example.items():
            if name in _LOOKED_AT:
                check_names(stored[name], stored[name], f"{place}/{name}")
            else:
                check_like(stored[name], inner, f"{place}/{name}")
        return
    name = place.rpartition("/")[2]
    if isinstance(example, np.ndarray):
        check_array(stored, example, place, any_rows=name in _ANY_ROWS, finite=name not in _MAY_BE_INFINITE)
    elif isinstance(example, str) != isinstance(stored, str):
        raise expected(place, f"a value of type {type(example).__name__}", _shown(stored))
    elif not isinstance(example, str):
        check_number(stored, example, place, finite=name not in _MAY_BE_INFINITE)


def check_names(stored: Any, names: Collection[str], place: str) -> None:
    """Refuse what is no group with these names."""
    if not isinstance(stored, dict) or set(stored) != set(names):
        raise expected(place, f"a group of {', '.join(sorted(names))}", _shown(stored))


def check_array(
    stored: Any, example: Any, place: str, *, any_rows: bool = False, finite: bool = True
) -> None:
    """Refuse what is no array of the example's type and shape."""
    shape = np.shape(example)
    if any_rows and isinstance(stored, np.ndarray) and stored.ndim == len(shape):
        shape = (max(1, len(stored)) if "parents" in place else len(stored), *shape[1:])
    fits = isinstance(stored, np.ndarray) and stored.shape == shape and stored.dtype == example.dtype
    if not fits:
        raise expected(place, f"an array of {example.dtype} {shape}", _shown(stored))
    if not (np.isfinite(stored).all() if finite else not np.isnan(stored).any()):
        raise expected(place, "finite numbers", "NaN or infinity")


def check_number(stored: Any, example: Any, place: str, *, finite: bool = True) -> None:
    """Refuse what is no number of the example's type."""
    known = isinstance(stored, bool) if isinstance(example, bool | np.bool_) else type(stored) in (int, float)
    whole = isinstance(example, int) and not isinstance(example, bool)
    most = LARGEST if place.endswith("/seed") else MOST
    if not known or (whole and not (type(stored) is int and 0 <= stored <= most)):
        raise expected(place, f"a number of type {type(example).__name__}", _shown(stored))
    if math.isnan(stored) or (finite and math.isinf(stored)):
        raise expected(place, "a finite number", stored)


def _shown(value: Any) -> str:
    """Return a value of a file as it is printed."""
    if isinstance(value, dict):
        return f"a group of {', '.join(sorted(value))}"[:200]
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    return repr(value)[:100]
