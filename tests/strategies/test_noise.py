from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from mpi_es.errors import UserError
from mpi_es.strategies.low_rank import Layout, LowRankNoise
from mpi_es.strategies.noise import BLOCK, ComputedNoise, SlicedNoise

SEED, DIM = 7, BLOCK + 1000


LAYOUT = Layout([(90, 100), (DIM - 9000,)], 2)
NOISES = {
    "computed": ComputedNoise(SEED, DIM),
    "low-rank": LowRankNoise(ComputedNoise(SEED, LAYOUT.size), LAYOUT),
}
each = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)


def weights_of(count: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(count)


@each
def test_a_row_has_variance_1_and_is_always_the_same(noise: SlicedNoise) -> None:
    row = noise.row(5)
    assert row.shape == (DIM,)
    assert row.dtype == np.float32
    if not isinstance(noise, LowRankNoise):  # whose numbers are products
        assert kstest(row, "norm").pvalue > 0.001
    np.testing.assert_allclose([row.mean(), row.std()], [0, 1], atol=0.2)
    np.testing.assert_array_equal(row, noise.row(5))


@each
def test_the_weighted_sum_adds_rows_in_order(noise: SlicedNoise) -> None:
    keys, weights = noise.keys(0, 6), weights_of(6)
    expected = np.zeros(DIM, dtype=np.float32)
    for key, weight in zip(keys, weights, strict=True):
        expected += np.float32(weight) * noise.row(int(key))
    np.testing.assert_array_equal(noise.weighted_sum(keys, weights), expected)


@each
@settings(max_examples=25)
@given(cuts=st.lists(st.integers(0, DIM), max_size=4))
def test_any_cut_gives_the_same_bits(noise: SlicedNoise, cuts: list[int]) -> None:
    keys, weights = noise.keys(2, 4), weights_of(4)
    edges = [0, *sorted(cuts), DIM]
    parts = [noise.partial_sum(keys, weights, a, b) for a, b in pairwise(edges)]
    assert np.concatenate(parts).tobytes() == noise.weighted_sum(keys, weights).tobytes()


@each
def test_a_weight_of_zero_changes_nothing(noise: SlicedNoise) -> None:
    keys, weights = noise.keys(0, 3), np.array([0.5, 0.0, -2.0])
    without = noise.weighted_sum(keys[::2], weights[::2])
    assert noise.weighted_sum(keys, weights).tobytes() == without.tobytes()


@each
def test_no_weights_sum_to_zeros(noise: SlicedNoise) -> None:
    assert not noise.weighted_sum(noise.keys(0, 0), np.zeros(0)).any()


@each
def test_generations_have_keys_of_their_own(noise: SlicedNoise) -> None:
    keys = noise.keys(3, 16)
    assert keys.dtype == np.int64
    np.testing.assert_array_equal(keys, noise.keys(3, 16))
    assert not np.isin(keys, noise.keys(4, 16)).any()


def test_computed_rows_depend_on_seed_and_key() -> None:
    row = ComputedNoise(1, 50).row(9)
    assert np.abs(row - ComputedNoise(2, 50).row(9)).min() > 0
    assert np.abs(row - ComputedNoise(1, 50).row(10)).min() > 0


def test_a_longer_computed_row_begins_with_the_shorter() -> None:
    np.testing.assert_array_equal(ComputedNoise(1, 70).row(9)[:50], ComputedNoise(1, 50).row(9))


def test_more_keys_than_a_generation_has_are_refused():
    with pytest.raises(UserError, match="--population-size: expected at most 2097152, got 2097154"):
        ComputedNoise(5, 3).keys(1, 2**20 + 1)
