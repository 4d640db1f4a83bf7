"""Restore a strategy's state from a run file, if its names, types and shapes match the strategy's."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from mpi_es.config.fields import LARGEST
from mpi_es.errors import UserError, expected, one_line
from mpi_es.run_file.description import from_plain, to_plain
from mpi_es.run_file.rules import (
    Rule,
    Rules,
    any_group,
    between,
    check_group,
    count,
    finite,
    flag,
    number,
    text,
)
from mpi_es.strategies.user_strategy import UserStrategy

MOST = 2**53  # of counters
# Arrays with any number of rows, and values that the strategy itself checks when the state is assigned.
_ANY_ROWS = ("parents", "best", "median", "recent")
_CHECKED_BY_STRATEGY = ("values", "inner")
_MAY_BE_INFINITE = ("highest_mean", "spread", "best", "median")  # of fitness


def restore(strategy: Any, stored: dict[str, Any], generation: int) -> None:
    """Assign a state from a run file, or refuse it with an error on one line.

    Args:
        generation: of the run.
    """
    example = strategy.state
    if isinstance(strategy, UserStrategy):  # its state may grow
        try:
            strategy.state = from_plain(type(example), stored)
        except Exception as error:
            raise UserError(f"/state: --strategy {strategy.name} refuses it: {one_line(error)}") from error
        return
    check_group(stored, rules_like(to_plain(example)), "/state")
    for name in ("generation", "begun"):
        if stored.get(name, 0) > generation:
            raise expected(f"/state/{name}", f"at most {generation}", stored[name])
    strategy.state = from_plain(type(example), stored)


def rules_like(example: Mapping[str, Any]) -> Rules:
    """Return the rules of states that differ from an example only in their numbers."""
    return {name: _rule_like(name, value) for name, value in example.items()}


def _rule_like(name: str, example: Any) -> Rule | Rules:
    """Return the rule of a value of a state."""
    most = np.inf if name in _MAY_BE_INFINITE else sys.float_info.max
    if name in _CHECKED_BY_STRATEGY:
        return any_group
    if isinstance(example, dict):
        return rules_like(example)
    if isinstance(example, np.ndarray):
        shape = (None, *example.shape[1:]) if name in _ANY_ROWS else example.shape
        rule = between(-np.inf, np.inf, example.dtype.str, *shape)
        rule = rule if name in _MAY_BE_INFINITE else finite(example.dtype.str, *shape)
        if name == "parents":
            return lambda value: rule(value) or ("" if len(value) else "one row or more")
        return rule
    if isinstance(example, bool | np.bool_):
        return flag
    if isinstance(example, int):
        return count(LARGEST if name == "seed" else MOST)
    return text if isinstance(example, str) else number(-most, most)
