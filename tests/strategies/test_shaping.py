import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata, zscore

from mpi_es.errors import UserError
from mpi_es.strategies.shaping import SHAPINGS, centered, log_rank, raw, standardized

each = pytest.mark.parametrize("name", SHAPINGS)
# Whole numbers tie often.
fitnesses = arrays(np.float64, st.integers(2, 12), elements=st.integers(-5, 5).map(float))


@given(fitnesses)
def test_centered_is_scipys_average_rank_scaled(fitness: np.ndarray) -> None:
    expected = (rankdata(fitness, method="average") - 1) / (len(fitness) - 1) - 0.5
    np.testing.assert_allclose(centered(fitness), expected, atol=1e-15)


@given(fitnesses)
def test_log_rank_is_the_mean_of_its_formula_over_the_ranks_of_ties(fitness: np.ndarray) -> None:
    ranks = rankdata(-fitness, method="ordinal") - 1
    utilities = np.maximum(0, np.log2(len(fitness) / 2 + 1) - np.log2(ranks + 1))
    expected = [utilities[fitness == one].mean() for one in fitness]
    np.testing.assert_allclose(log_rank(fitness), expected / utilities.sum(), atol=1e-15)


@given(arrays(np.float64, st.integers(2, 12), elements=st.floats(-1e6, 1e6)))
def test_standardized_is_scipys_zscore(fitness: np.ndarray) -> None:
    utilities = standardized(fitness)
    assert np.isfinite(utilities).all()
    if np.ptp(fitness) > 1e-3:
        np.testing.assert_allclose(utilities, zscore(fitness), atol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1.0, 1e200])
def test_standardized_stands_any_scale(scale: float) -> None:
    np.testing.assert_allclose(standardized(scale * np.array([1.0, -1.0])), [1.0, -1.0])


def test_standardized_stands_the_lowest_number_as_a_value() -> None:
    lowest = np.finfo(np.float64).min
    np.testing.assert_allclose(standardized(np.array([lowest, lowest, 1.0, 2.0])), [-1.0, -1.0, 1.0, 1.0])


def test_raw_is_the_fitness_itself() -> None:
    np.testing.assert_array_equal(raw(np.array([3.0, -1.0])), [3.0, -1.0])


def test_raw_refuses_what_single_precision_cannot_square() -> None:
    with pytest.raises(UserError, match=r"--shaping raw: expected a fitness below 1e\+19"):
        raw(np.array([3.0, -1e30]))


@pytest.mark.parametrize(("name", "utility"), [("centered", 0.0), ("log-rank", 1 / 7), ("standardized", 0.0)])
def test_equal_fitness_gives_equal_utilities(name: str, utility: float) -> None:
    np.testing.assert_allclose(SHAPINGS[name](np.full(7, 0.1)), utility)


@each
@given(fitness=fitnesses)
def test_better_is_never_worth_less(name: str, fitness: np.ndarray) -> None:
    order = np.argsort(fitness)
    assert (np.diff(SHAPINGS[name](fitness)[order]) >= 0).all()


@each
@given(fitness=fitnesses, seed=st.integers(0, 1000))
def test_utilities_follow_their_candidates(name: str, fitness: np.ndarray, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(fitness))
    np.testing.assert_allclose(SHAPINGS[name](fitness[order]), SHAPINGS[name](fitness)[order], atol=1e-12)


@pytest.mark.parametrize("name", ["centered", "log-rank"])
@given(fitness=fitnesses)
def test_ranks_see_only_the_order(name: str, fitness: np.ndarray) -> None:
    np.testing.assert_array_equal(SHAPINGS[name](np.exp(fitness) * 3 - 7), SHAPINGS[name](fitness))


@each
def test_the_fitness_is_left_as_it_was(name: str) -> None:
    fitness = np.array([3.0, 1.0, 2.0])
    SHAPINGS[name](fitness)[:] = 0
    np.testing.assert_array_equal(fitness, [3.0, 1.0, 2.0])
