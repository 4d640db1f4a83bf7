"""Combine a function and a function of its constraints into one that returns both."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mpi_es.errors import UserError, expected, one_line
from mpi_es.evaluation.function.problem import Function, as_vector

# Of x (dim,); returns an array, or a number; x is feasible if all are <= 0.
ConstraintFunction = Callable[..., Any]


def with_constraints(function: Function, constraints: ConstraintFunction | int) -> Function:
    """Return a function of the same signature that returns a pair of value and constraints.

    Args:
        constraints: their number, if the function returns such a pair already.
    """
    if not (callable(constraints) and callable(function)):  # Problem refuses what is no function
        return function

    @functools.wraps(function)
    def both(x: Any, *more: Any, **named: Any) -> Any:
        return function(x.copy(), *more, **named), constraints(x)

    return both


def count_constraints(constraints: ConstraintFunction | int, x0: Any) -> int:
    """Return the number of constraints, found by calling their function at x0."""
    if not callable(constraints):
        return constraints
    try:
        values = np.atleast_1d(as_vector("constraints", constraints(as_vector("--x0", x0))))
    except Exception as error:
        told = str(error) if isinstance(error, UserError) else f"constraints: failed at x0: {one_line(error)}"
        raise UserError(told) from error
    if values.ndim != 1 or not len(values):
        raise expected("constraints", "a function that returns an array (n,)", f"one of shape {values.shape}")
    return len(values)
