"""Integers in CMA-ES: pycma's moves and candidates, whatever the distance of two integers."""

import math

import cma
import numpy as np
import pytest
from cma.integer_centering import IntegerCentering
from threadpoolctl import threadpool_limits

from mpi_es.errors import UserError
from mpi_es.strategies.cma_es import CMAES
from mpi_es.strategies.integer_centering import Grid, centre_integers
from tests.strategies.making import made
from tests.strategies.plain_pycma import Plain

INTEGERS = [0, 2]


@pytest.fixture(autouse=True)
def one_thread():
    """As in a run."""
    with threadpool_limits(1):
        yield


def grid(dim, distance=1.0):
    """Two integers without bounds."""
    far = np.full(dim, math.inf)
    return Grid(np.where(np.isin(np.arange(dim), INTEGERS), distance, 0.0), -far, far)


def rounded(x, distance=1.0):
    """Return candidates (…, dim) as a function sees them."""
    seen = np.array(x)
    seen[..., INTEGERS] = np.round(seen[..., INTEGERS] / distance) * distance
    return seen


def cost(x):
    """An ellipsoid between integers, of x as a function sees it."""
    return float(((x - np.r_[1.3, 0.2, -2.6, np.zeros(len(x) - 3)]) ** 2) @ np.logspace(0, 2, len(x)))


@pytest.mark.parametrize("seed", range(50))
def test_candidates_are_moved_as_by_pycma(seed):
    draw = np.random.default_rng(seed)
    rows, mean = draw.normal(size=(draw.integers(2, 12), 4)), draw.normal(size=4)
    theirs, ours = rows.copy(), rows.copy()
    IntegerCentering(INTEGERS)(theirs, mean)
    centre_integers(ours, mean, grid(4))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("seed", range(20))
def test_integers_are_moved_into_their_bounds_as_by_pycma(seed):
    draw = np.random.default_rng(seed)
    rows, mean = 2 * draw.normal(size=(draw.integers(2, 12), 4)), draw.normal(size=4)
    theirs, ours, bound = rows.copy(), rows.copy(), np.full(4, 1.0)
    settings = {"integer_variables": INTEGERS, "bounds": [-bound, bound], "verbose": -9}
    cma.CMAEvolutionStrategy(4 * [0.5], 0.3, settings).integer_centering(theirs, mean)
    centre_integers(ours, mean, Grid(grid(4).distance, -bound, bound))
    np.testing.assert_array_equal(ours[:, INTEGERS], theirs[:, INTEGERS])
    np.testing.assert_array_equal(ours[:, [1, 3]], rows[:, [1, 3]])


def test_the_distance_of_integers_is_a_unit_only():
    draw = np.random.default_rng(0)
    rows, mean = draw.normal(size=(6, 4)), draw.normal(size=4)
    unit = np.where(grid(4).distance, 0.25, 1.0)  # a power of two, which rounds nothing
    scaled, plain = rows * unit, rows.copy()
    centre_integers(scaled, mean * unit, grid(4, 0.25))
    centre_integers(plain, mean, grid(4))
    np.testing.assert_array_equal(scaled, plain * unit)


@pytest.mark.parametrize("variant", ["full", "separable", "isotropic"])
@pytest.mark.parametrize(("dim", "popsize"), [(3, 8), (7, 12), (310, 16)])
def test_candidates_are_those_of_plain_pycma(variant, dim, popsize):
    plain = Plain(variant, dim, popsize, integer_variables=INTEGERS)
    theirs = plain.run(60, cost)
    strategy = made(CMAES, np.full(dim, 0.7), 0.3, popsize, 3, cma_variant=variant, grid=grid(dim))
    for expected in theirs:
        population = strategy.ask()
        seen = rounded(population.rows)
        np.testing.assert_array_equal(seen, expected)
        strategy.tell(population, np.array([-cost(x) for x in seen]))
    np.testing.assert_array_equal(strategy.centre, plain.es.mean)


@pytest.mark.parametrize("variant", ["full", "separable", "isotropic"])
def test_it_continues_exactly(variant):
    def advance(strategy, generations):
        for _ in range(generations):
            population = strategy.ask()
            strategy.tell(population, np.array([-cost(x) for x in rounded(population.rows, 0.5)]))

    def make():
        return made(CMAES, np.full(4, 0.7), 0.3, 8, 3, cma_variant=variant, grid=grid(4, 0.5))

    whole, first, again = make(), make(), make()
    for generations in (0, 1, 40):
        advance(whole, generations)
        advance(first, generations)
        again.state = first.state
        advance(again, 30)
        advance(whole, 30)
        np.testing.assert_equal(again.state.values, whole.state.values)
        whole, first, again = make(), make(), make()


def test_deviations_of_integers_stay_wide_enough_to_change_them():
    strategy = made(CMAES, np.zeros(4), 0.3, 8, 3, grid=grid(4, 0.5))
    for _ in range(200):
        population = strategy.ask()
        strategy.tell(population, -np.square(rounded(population.rows, 0.5)).sum(axis=1))
    assert strategy.deviations[INTEGERS].min() > 0.09  # 0.2 of the distance, less rounding
    assert strategy.deviations[[1, 3]].max() < 1e-6


@pytest.mark.parametrize("variant", ["vd", "vkd"])
def test_variants_with_a_sampler_of_their_own_are_refused(variant):
    with pytest.raises(
        UserError, match=r"^--cma-variant: expected auto, full, separable or isotropic with --int"
    ):
        made(CMAES, np.zeros(4), cma_variant=variant, grid=grid(4))
