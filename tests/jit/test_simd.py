import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import lane, load, maximum, splat, store
from mpi_es.policies.attention_compiled.softmax import exp2


@compiled()
def powers_of_two(x, out):
    for i in range(0, len(x), 8):
        store(out, i, exp2(load(x, i)))


@compiled()
def largest_in_each_lane(x, out):
    highest = splat(np.float32(-np.inf))
    for i in range(0, len(x), 8):
        highest = maximum(load(x, i), highest)
    for i in range(8):
        out[i] = lane(highest, i)


def test_powers_of_two_are_right_to_single_precision():
    x = np.concatenate([np.linspace(-126, 1, 80_000), np.linspace(-1e-6, 1e-6, 8)]).astype(np.float32)
    out = np.empty_like(x)
    powers_of_two(x, out)
    np.testing.assert_allclose(out, np.exp2(x.astype(np.float64)), rtol=2.5e-7)


def test_powers_of_two_of_what_is_very_low_or_no_number_are_next_to_nothing():
    x = np.array([-126, -127, -1e30, -np.inf, np.nan, 0, 1, 2], np.float32)
    out = np.empty_like(x)
    powers_of_two(x, out)
    np.testing.assert_allclose(out[:5], 2.0**-126, rtol=2e-7)
    np.testing.assert_allclose(out[5:], [1, 2, 4], rtol=2e-7)


def test_the_maximum_passes_over_what_is_no_number():
    x = np.array([[1, 5, np.nan, 0, 0, 0, 0, -3], [2, 4, 3, np.nan, 0, 0, 0, -4]], np.float32)
    out = np.empty(8, np.float32)
    largest_in_each_lane(x.ravel(), out)
    assert out.tolist() == [2, 5, 3, 0, 0, 0, 0, -3]
