"""A function of constraints beside the function itself."""

import math

import numpy as np
import pytest

import mpi_es
from mpi_es.errors import RolloutError, UserError
from mpi_es.evaluation.function.constraints import count_constraints
from tests.launching import assert_same
from tests.strategies.test_constraints import beyond, sphere

QUICK = {"population_size": 8, "max_iter": 20, "run_dir": None, "console": "silent"}


def minimise(function, constraints, **options):
    return mpi_es.minimise(function, [3.0, 3.0], 0.5, constraints=constraints, **QUICK | options)


def test_two_functions_are_the_same_as_one_that_returns_a_pair():
    one, two = minimise(lambda x: (sphere(x), beyond(x)), 2), minimise(sphere, beyond)
    np.testing.assert_array_equal(one.x, two.x)
    assert_same(one.history, two.history)


@pytest.mark.parametrize("failed", [math.nan, np.float64("nan"), (math.nan, None), (np.nan, [1, np.nan])])
def test_a_call_that_failed_knows_no_constraints(failed):
    def sometimes(x):
        return failed if x[0] > 3.5 else (sphere(x), beyond(x))

    found = minimise(sometimes, 2, on_failure="worst")
    assert found.history["failures"].any()
    with pytest.raises(RolloutError, match="expected a finite number, got nan"):
        minimise(sometimes, 2)


def test_a_single_constraint_may_be_a_number():
    listed, single = minimise(sphere, lambda x: [1 - x[0]]), minimise(sphere, lambda x: 1 - x[0])
    pair = minimise(lambda x: (sphere(x), 1 - x[0]), 1)
    assert listed.x.tolist() == single.x.tolist() == pair.x.tolist()


def test_the_function_of_constraints_has_an_x_of_its_own():
    def careless(x):
        x[:] = 0
        return 0.0

    assert minimise(careless, beyond).constraints.tolist() != [1, -2]


def test_an_error_shows_none_of_our_frames():
    def undefined(x):
        raise ArithmeticError("undefined")

    with pytest.raises(RolloutError) as caught:
        minimise(undefined, beyond)
    assert "undefined" in str(caught.value)
    assert "in both" not in str(caught.value)


def test_their_number_is_told_at_x0():
    assert count_constraints(beyond, [0.0, 0.0]) == count_constraints(2, [0.0]) == 2
    with pytest.raises(UserError, match="constraints: failed at x0: IndexError"):
        count_constraints(lambda x: [x[5]], [0.0])
