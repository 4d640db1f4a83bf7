"""The augmented Lagrangian: pycma's coefficients, also after it was saved."""

from dataclasses import replace

import cma
import numpy as np
import pytest
from cma.constraints_handler import AugmentedLagrangian as Pycma
from hypothesis import given
from hypothesis import strategies as st

from mpi_es.search import Search
from mpi_es.strategies.augmented_lagrangian import AugmentedLagrangian
from mpi_es.strategies.cma_es import CMAES
from mpi_es.strategies.constraints import Constraints
from tests.strategies.making import made
from tests.strategies.plain_pycma import Plain


def generations(seed, dim, number, count=80):
    """Yield values (n,) and constraints (n, number) that contract and cross zero now and then."""
    draw = np.random.default_rng(seed)
    shift, scale = 2 * draw.normal(size=number), 10 ** draw.uniform(-1, 1, number)
    for generation in range(count):
        size, n = 0.97**generation, int(draw.integers(4, 12))
        where = 0.9**generation if seed % 2 else np.sin(generation / 9)
        yield size * (1 + draw.normal(size=n)), size * scale * draw.normal(size=(n, number)) + shift * where


def of_pycma(dim):
    lagrangian = Pycma(dim)
    lagrangian.logging = 0  # else it writes files
    return lagrangian


@pytest.mark.filterwarnings("ignore")
@given(seed=st.integers(0, 10**6), dim=st.integers(1, 9), number=st.integers(1, 5))
def test_its_coefficients_are_pycmas(seed, dim, number):
    ours, theirs = AugmentedLagrangian(dim, number), of_pycma(dim)
    for values, constraints in generations(seed, dim, number):
        losses = [value + sum(theirs(row)) for value, row in zip(values, constraints, strict=True)]
        np.testing.assert_allclose(ours.loss(values, constraints), losses, rtol=1e-12, atol=1e-12)
        if not theirs.is_initialized:
            theirs.set_coefficients(values, constraints)
        best = int(np.argmin(losses))
        theirs.update(values[best], constraints[best])
        ours.update(values, constraints)
        np.testing.assert_array_equal(ours.state.lam, theirs.lam)
        np.testing.assert_allclose(ours.state.mu, theirs.mu, rtol=1e-15)


def test_it_continues_exactly_from_its_state():
    whole, first = AugmentedLagrangian(4, 2), AugmentedLagrangian(4, 2)
    past, future = (lambda g: (g[:30], g[30:]))([*generations(1, 4, 2)])
    for generation in past:
        whole.update(*generation)
        first.update(*generation)
    again = AugmentedLagrangian(4, 2)
    again.state = replace(first.state)
    for generation in future:
        whole.update(*generation)
        again.update(*generation)
    np.testing.assert_equal(vars(again.state), vars(whole.state))


def active(x):
    return [1 - x[0], x[1] - 2]


def nonlinear(x):
    return [1 - x[0] ** 2 - x[1], 0.5 - x[2] + x[0]]


@pytest.mark.parametrize("constraints", [active, nonlinear])
@pytest.mark.parametrize(("variant", "dim"), [("full", 3), ("full", 8), ("separable", 5)])
def test_cma_es_has_the_candidates_of_pycmas_constrained_fitness(variant, dim, constraints):
    def cost(x):
        return float(x**2 @ np.logspace(0, 2, dim))

    plain = Plain(variant, dim, 10)
    penalised = cma.ConstrainedFitnessAL(cost, constraints, logging=0)
    theirs = plain.run(70, penalised, lambda: penalised.update(plain.es))
    strategy, ours = made(CMAES, np.full(dim, 0.7), 0.3, 10, 3, cma_variant=variant), Constraints(dim, 2)
    for expected in theirs:
        rows = strategy.ask()
        np.testing.assert_array_equal(rows.rows, expected)
        fitness = -np.array([cost(x) for x in rows.rows])
        values = np.array([constraints(x) for x in rows.rows])
        strategy.tell(rows, ours.penalised(fitness, values))
        ours.update(fitness, values)
    assert len(theirs) == 70


def test_constraints_whose_squares_are_infinite_penalise():
    one = AugmentedLagrangian(3, 1)
    for _ in range(3):
        loss = one.loss(np.array([1.0, 2.0, 3.0]), np.array([[1e200], [-1.0], [1.0]]))
        assert not np.isnan(loss).any()
        one.update(np.array([1.0, 2.0, 3.0]), np.array([[1e200], [-1.0], [1.0]]))
    assert loss.argmax() == 0


def test_a_first_generation_on_a_plateau_does_not_switch_the_constraints_off():
    def search(value, limit, **options):
        options |= {"population_size": 12, "max_iter": 300}
        one = Search([0.0, 0.0], 0.1, minimise=True, constraints=1, **options)
        while not one.done:
            asked = one.ask()
            one.tell([value(x) for x in asked], [[limit(x)] for x in asked])
        return one

    def flat_far_away(x):
        return min(float(((x - [3, 1]) ** 2).sum()), 9.4)

    found = search(flat_far_away, lambda x: x[1])
    np.testing.assert_allclose(found.centre, [3, 0], atol=1e-3)
    for strategy in ("cma_es", "snes", "cr_fm_nes"):
        feasible = search(lambda x: 0.0, lambda x: 5 - x[0], strategy=strategy)
        assert feasible.best_constraints <= 0


def test_coefficients_from_a_plateau_are_set_again_beyond_it():
    one, constraints = AugmentedLagrangian(2, 1), np.array([[1.0], [-1.0], [2.0], [-2.0]])
    one.update(np.ones(4), constraints)
    on_plateau = one.state.mu[0]
    one.update(1e6 * np.arange(4.0), constraints)
    assert one.state.mu[0] > 1e3 * on_plateau > 0


def test_coefficients_stay_finite_where_nothing_is_feasible():
    one = AugmentedLagrangian(1, 1)
    for _ in range(10000):
        one.update(np.array([1.0, 2.0, 3.0]), np.array([[2.0], [3.0], [4.0]]))
    assert np.isfinite([one.state.lam, one.state.mu]).all()
    assert np.isfinite(one.loss(np.ones(1), np.array([[1e300]]))).all()
