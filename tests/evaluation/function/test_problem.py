import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mpi_es.errors import UserError
from mpi_es.evaluation.function.problem import problem


def total(x):
    return x.sum()


def test_a_torch_vector_is_a_start():
    start = torch.linspace(0, 1, 3, requires_grad=True)
    np.testing.assert_array_equal(problem(total, start).x0, [0, 0.5, 1])


@pytest.mark.parametrize(
    ("x0", "bounds", "message"),
    [
        ([], None, "--x0: expected a vector of finite numbers"),
        ([[1.0]], None, "--x0: expected a vector of finite numbers"),
        ([math.nan], None, "--x0: expected a vector of finite numbers"),
        (["a"], None, "--x0: expected numbers, got"),
        ([0.0], (1.0, -1.0), "--bounds: expected lower bounds below the upper ones"),
        ([0.0], (1.0, 1.0), "--bounds: expected lower bounds below the upper ones"),
        ([2.0], (-1.0, 1.0), "--x0: expected numbers within --bounds"),
        ([0.0], (-1e308, 1e308), "--bounds: expected less than 4e307 between lower and upper bounds"),
        ([0.0, 0.0], (-1.0, [1.0, 1.0, 1.0]), r"--bounds: expected numbers, or vectors of the shape \(2,\)"),
    ],
)
def test_no_search_begins_with(x0, bounds, message):
    with pytest.raises(UserError, match=message):
        problem(total, x0, bounds)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(UserError, match="function: expected a callable, got 3"):
        problem(3, [0.0])


@pytest.mark.parametrize(
    ("bounds", "lower", "upper"),
    [
        ((None, 3), [-np.inf] * 3, [3] * 3),
        (([0, None, 1], 3), [0, -np.inf, 1], [3] * 3),
        ([(0, 1), (None, 2), (-1, None)], [0, -np.inf, -1], [1, 2, np.inf]),
        (np.array([[0, 1], [0, 2], [0, 3]]), [0] * 3, [1, 2, 3]),
        (np.array([[0, 0, 0], [1, 2, 3]]), [0] * 3, [1, 2, 3]),
        ([(-5, 5), (-5, 5)], [-5] * 2, [5] * 2),
        ([(-5, -5), (5, 5)], [-5] * 2, [5] * 2),
        ([(0, 1)], [0], [1]),
        ((np.array([0, 1]), np.array([2, 3])), [0, 1], [2, 3]),
    ],
)
def test_bounds_are_two_ends_or_pairs(bounds, lower, upper):
    made = problem(total, np.clip(np.zeros(len(lower)), lower, upper), bounds)
    assert (made.lower.tolist(), made.upper.tolist()) == (lower, upper)


def test_bounds_of_two_parameters_that_can_be_read_in_two_ways_are_refused():
    with pytest.raises(UserError, match="--bounds: expected unambiguous bounds"):
        problem(total, [1.0, 2.0], [(0, 1), (2, 3)])


@pytest.mark.parametrize(
    ("bounds", "x", "inside"),
    [
        (None, 5.0, 5.0),
        ((-1.0, 1.0), 0.3, 0.3),
        ((-1.0, 1.0), 1.25, 0.75),
        ((-1.0, 1.0), -1.25, -0.75),
        ((-1.0, 1.0), 3.25, -0.75),
        ((-1.0, 1.0), -5.0, -1.0),
        ((0.0, None), -2.0, 2.0),
        ((None, 0.0), 2.0, -2.0),
        ((None, 0.0), -7.0, -7.0),
        ((0.0, math.inf), 7.0, 7.0),
        ((0.0, 1e16), -0.3, 0.3),
        ((-1e20, 1e4), 10001.0, 9999.0),
        ((-1e16, 1.0), 1.5, 0.5),
    ],
)
def test_without_a_margin_x_is_reflected_at_the_bounds(bounds, x, inside):
    assert problem(total, [0.0], bounds, sigma=1e-300).whole([x]) == [inside]
    assert problem(total, [0.0], bounds, sigma=1e-300, integers=(0,)).whole([x]) == [round(inside)]


@pytest.mark.parametrize(
    ("candidate", "inside"),
    [(5, 5), (1, 1), (9, 9), (0, 0.25), (-1, 0), (-2, 0.25), (-3, 1), (10, 9.75), (11, 10), (12, 9.75)],
)
def test_within_half_a_sigma_of_a_bound_x_is_a_parabola(candidate, inside):
    wide = problem(total, [5.0, 2.0], ([0, -math.inf], [10, math.inf]), scale=[2.0, 1.0])
    assert wide.whole([candidate / 2, candidate]).tolist() == [inside, candidate]


@pytest.mark.parametrize("x", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_a_sigma_larger_than_the_domain_is_a_third_of_it(x):
    narrow = problem(total, [x, 0.0], ([0, -math.inf], 1), sigma=7.0)
    np.testing.assert_allclose(narrow.scale, [1 / 21, 1])
    np.testing.assert_allclose(narrow.margin, [1 / 6, 3.5])
    around = np.array([2 * (1 + 2 / 6) * 21, 0.0])
    np.testing.assert_allclose(narrow.whole(narrow.initial(1) + around), [x, 0], atol=1e-14)


def test_what_lies_on_a_bound_stays_as_it_is_to_the_bit_beside_what_lies_outside():
    lower, upper = [0.0, -0.3, 0.0], [1.0, 0.1, 1.0]
    assert lower[1] + (upper[1] - lower[1]) != upper[1]  # as it would be if it were reflected
    reflecting = problem(total, [0.5, 0.0, 0.5], (lower, upper), sigma=1e-300)
    inside = reflecting.whole([0.25, upper[1], 1.25])
    assert inside.tobytes() == np.array([0.25, upper[1], 0.75]).tobytes()


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e3), st.floats(-1e9, 1e9), st.floats(1e-9, 1e9))
def test_whatever_is_asked_lies_within_the_bounds_and_x0_is_found_again(lower, width, x, sigma):
    start = lower + abs(x) % width
    for end in (lower + width, math.inf):
        bounded = problem(total, [min(start, end)], (lower, end), sigma=sigma)
        assert lower <= bounded.whole([x])[0] <= end
        np.testing.assert_allclose(bounded.whole(bounded.initial(1)), bounded.x0, rtol=1e-9, atol=1e-9)
