"""CMA-ES: what pycma computes, continued exactly from its state."""

import copy
import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mpi_es.errors import RolloutError, UserError
from mpi_es.strategies.cma_es import CMAES, CMAState, choose
from tests.strategies.making import made
from tests.strategies.plain_pycma import Plain

VARIANTS = ["full", "separable", "isotropic", "vd", "vkd"]
# 40 in popsize 4 decomposes every other generation; from 300 on pycma adapts sigma by two points
SIZES = [(2, 6), (5, 8), (40, 4), (310, 16)]


@pytest.fixture(autouse=True)
def one_thread():
    """As in a run, where pycma's own would have one, too."""
    with threadpool_limits(1):
        yield


def ellipsoid(rows):
    """Fitness of rows (popsize, dim), maximal at zero, with a condition number of 1e4."""
    return -(rows**2 @ np.logspace(0, 4, rows.shape[1]))


def make(variant, dim=5, popsize=8, seed=3, **options):
    return made(CMAES, np.full(dim, 0.7), 0.3, popsize, seed, cma_variant=variant, **options)


def advance(strategy, generations, fitness=ellipsoid):
    """Run generations; return the populations (generations, popsize, dim)."""
    asked = []
    for _ in range(generations):
        population = strategy.ask()
        asked.append(population.rows.copy())
        strategy.tell(population, fitness(population.rows))
    return np.array(asked)


def assert_equal(one: CMAState, other: CMAState):
    assert (one.generation, one.variant) == (other.generation, other.variant)
    np.testing.assert_equal(one.values, other.values)


def test_a_search_that_has_converged_beside_idle_parameters_goes_on_exactly():
    def sloped(rows):  # in two of six, as a network in single precision sees them
        return ellipsoid(rows[:, :2].astype(np.float32).astype(float))

    undisturbed, restored = make("full", 6, 9), make("full", 6, 9)
    advance(undisturbed, 600, sloped)
    axes = undisturbed.state.values["sm.D"]
    assert 0.9e14 < (axes.max() / axes.min()) ** 2 < 1.1e14
    restored.state = undisturbed.state
    np.testing.assert_array_equal(advance(restored, 300, sloped), advance(undisturbed, 300, sloped))
    assert_equal(restored.state, undisturbed.state)


def test_where_pycma_cannot_go_on_is_told_in_a_line():
    strategy = make("full")
    population = strategy.ask()
    strategy._es.sm.C[:] = -np.eye(5)
    with pytest.raises(
        RolloutError, match=r"^CMA-ES, full, cannot continue: RuntimeError: A sampler"
    ) as caught:
        strategy.tell(population, ellipsoid(population.rows))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("generation", [0, 3, 18])
@pytest.mark.parametrize(("dim", "popsize"), SIZES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_continues_exactly_after_restore(variant, dim, popsize, generation):
    undisturbed, restored = make(variant, dim, popsize), make(variant, dim, popsize)
    advance(undisturbed, generation)
    restored.state = state = undisturbed.state
    before = copy.deepcopy(state)
    np.testing.assert_array_equal(advance(restored, 30), advance(undisturbed, 30))
    assert_equal(restored.state, undisturbed.state)
    assert_equal(state, before)


@pytest.mark.parametrize("dim", [5, 310])
@pytest.mark.parametrize("rule", ["csa", "two-point"])
@pytest.mark.parametrize("variant", ["full", "separable", "isotropic"])
def test_continues_exactly_with_a_rule_for_sigma(variant, rule, dim):
    undisturbed, restored = (make(variant, dim, sigma_rule=rule) for _ in range(2))
    advance(undisturbed, 7)
    restored.state = undisturbed.state
    np.testing.assert_array_equal(advance(restored, 20), advance(undisturbed, 20))
    assert_equal(restored.state, undisturbed.state)


def test_searches_in_threads_leave_output_and_warnings_as_they_are():
    def search():
        for _ in range(10):
            make("vd", 10)
            advance(make("full", 310, 16), 1)

    before = sys.stdout, warnings.filters.copy()
    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(search) for _ in range(3)]:
            done.result()
    assert (sys.stdout, warnings.filters) == before


def test_auto_is_csa_below_300_parameters_and_two_point_from_there():
    for dim, rule in ((299, "csa"), (300, "two-point")):
        asked = [advance(make("isotropic", dim, sigma_rule=name), 5) for name in ("auto", rule)]
        np.testing.assert_array_equal(*asked)


def test_isotropic_has_one_deviation_for_all_parameters_and_converges_on_a_sphere():
    strategy = make("isotropic")
    advance(strategy, 200, lambda rows: -(rows**2).sum(axis=1))
    assert np.ptp(strategy.deviations) == 0
    assert np.abs(strategy.centre).max() < 1e-6


def test_continues_exactly_while_vkd_changes_its_rank():
    undisturbed, restored = make("vkd", 12, 24), make("vkd", 12, 24)
    advance(undisturbed, 70, rotated := Rotated(12))
    restored.state = state = undisturbed.state
    np.testing.assert_array_equal(advance(restored, 300, rotated), advance(undisturbed, 300, rotated))
    assert 0 < state.values["sm.k"] != restored.state.values["sm.k"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_continues_exactly_after_sigma_exploded(variant):
    undisturbed, restored = make(variant), make(variant)
    advance(undisturbed, 2)
    undisturbed.state = CMAState(2, variant, undisturbed.state.values | {"sigma": 1e10})
    advance(undisturbed, 2)  # pycma moves a part of sigma into the covariance
    restored.state = undisturbed.state
    np.testing.assert_array_equal(advance(restored, 5), advance(undisturbed, 5))


def test_state_of_another_variant_or_size_or_an_incomplete_one_is_refused():
    strategy = make("full")
    advance(strategy, 2)
    state = strategy.state
    with pytest.raises(UserError, match="expected the state of variant separable, got 'full'"):
        make("separable").state = state
    with pytest.raises(UserError, match="expected a mean of 7 parameters, got 5"):
        make("full", 7).state = state
    del state.values["sm.B"]
    with pytest.raises(UserError, match=r"none for sm\.B"):
        make("full").state = state


@pytest.mark.parametrize(("dim", "popsize"), [(2, 6), (5, 8), (40, 12), (310, 16)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_plain_pycma_with_the_same_random_numbers(variant, dim, popsize):
    plain = Plain(variant, dim, popsize)
    strategy = make(variant, dim, popsize)
    theirs = plain.run(20, lambda x: -ellipsoid(x[None])[0])
    np.testing.assert_array_equal(advance(strategy, 20), theirs)
    np.testing.assert_array_equal(strategy.centre, plain.es.mean)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "isotropic"])
def test_converges_on_an_ellipsoid(variant, dim):
    strategy = make(variant, dim, 12)
    advance(strategy, 500)
    assert -ellipsoid(strategy.centre[None])[0] < 1e-12
    assert strategy.sigma < 1e-5


@pytest.mark.parametrize("variant", VARIANTS)
def test_flat_and_infinitely_bad_fitness_are_survived(variant):
    strategy = make(variant)
    advance(strategy, 20, lambda rows: np.zeros(len(rows)))
    advance(strategy, 20, lambda rows: np.where(rows[:, 0] < 0.7, -np.inf, -(rows[:, 0] ** 2)))
    assert np.isfinite(strategy.centre).all()


@pytest.mark.parametrize("variant", ["full", "separable", "vd"])
def test_goes_on_after_all_candidates_became_equal(variant):
    strategy = make(variant, 6)
    advance(strategy, 1500, lambda rows: -((rows - 0.3) ** 2).sum(axis=1))
    np.testing.assert_allclose(strategy.centre, 0.3, rtol=1e-12)
    assert np.isfinite(strategy.sigma)


@pytest.mark.parametrize("variant", VARIANTS)
def test_is_silent_and_writes_nothing(variant, capfd, recwarn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    advance(make(variant, 2, 30), 60, lambda rows: rows[:, 0])
    advance(make(variant, 310, 300), 12, lambda rows: rows[:, 0])
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())
    assert not recwarn.list


def test_mean_is_a_copy():
    strategy = make("full")
    strategy.centre[:] = 9
    np.testing.assert_array_equal(strategy.centre, np.full(5, 0.7))


@pytest.mark.parametrize(
    ("variant", "rule"), [*product(VARIANTS, ["auto"]), *product(VARIANTS[:3], ["two-point"])]
)
def test_sigma_is_the_deviation_of_the_candidates(variant, rule):
    strategy = make(variant, 5, 400, sigma_rule=rule)
    advance(strategy, 30)
    deviations = strategy.ask().rows.std(axis=0)
    assert strategy.sigma == pytest.approx(np.exp(np.log(deviations).mean()), rel=0.1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_four_candidates_are_enough(variant):
    strategy = make(variant, 3, 4)
    advance(strategy, 300, lambda rows: -(rows**2).sum(axis=1))
    assert np.abs(strategy.centre).max() < 1e-3


@pytest.mark.parametrize(
    ("asked", "dim", "popsize", "variant", "reason"),
    [
        (
            "auto",
            588,
            256,
            "full",
            "covariance of 588 parameters takes about 0.065 s and 22 MB per generation$",
        ),
        (
            "auto",
            3667,
            256,
            "separable",
            "full covariance of 3667 parameters would take about 4.2 s and 861 MB",
        ),
        ("auto", 1990, 4, "full", ""),
        ("auto", 2010, 4, "separable", ""),  # memory alone
        ("full", 3667, 256, "full", ""),
        ("vd", 5, 8, "vd", ".*pycma advises against vd below 10 parameters$"),
    ],
)
def test_auto_takes_full_where_a_generation_stays_cheap_and_says_why(asked, dim, popsize, variant, reason):
    chosen, why = choose(asked, dim, popsize)
    assert chosen == variant
    assert re.search(reason, why)


def test_the_choice_is_the_strategy_s_and_its_description():
    strategy = made(CMAES, np.zeros(3667), 0.1, 256, 1)
    assert strategy.state.variant == "separable"
    assert strategy.description.endswith(
        "per generation; auto uses it only below 0.1 s and 256 MB, --cma-variant full always"
    )


class Rotated:
    """A rotated ellipsoid with four long axes."""

    def __init__(self, dim):
        self.axes = np.linalg.qr(np.random.default_rng(0).standard_normal((dim, dim)))[0]
        self.scale = np.r_[1e3, 3e2, 1e2, 1e2, np.ones(dim - 4)]

    def __call__(self, rows):
        return -((rows @ self.axes * self.scale) ** 2).sum(axis=1)


def threads():
    """How many threads linear algebra has."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_linear_algebra_takes_the_threads_that_it_is_given_and_gives_them_back(monkeypatch):
    seen, draw = [], CMAES._draw
    monkeypatch.setattr(CMAES, "_draw", lambda self, *shape: (seen.append(threads()), draw(self, *shape))[1])
    made(CMAES, np.full(5, 0.7), 0.3, 8, 3, cma_variant="full", root_threads=2).ask()
    assert (set(seen[-1]), set(threads())) == ({2}, {1})


@pytest.mark.parametrize("count", [1, 2])
def test_a_number_of_threads_rounds_the_same_each_time(count):
    runs = [
        made(CMAES, np.full(310, 0.7), 0.3, 16, 3, cma_variant="full", root_threads=count) for _ in range(2)
    ]
    np.testing.assert_array_equal(*(advance(run, 8) for run in runs))


def test_warnings_filters_are_left_as_they_were():
    before = list(warnings.filters)
    advance(make("separable"), 3)
    assert warnings.filters == before
