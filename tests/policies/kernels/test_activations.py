import numpy as np
import pytest

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import WIDE, load_wide, store
from mpi_es.policies.kernels import activations
from mpi_es.policies.kernels.activations import activate, tanh_all

KINDS = {name: place for place, name in enumerate(activations.NAMES)}
ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805
EXACT = {
    "none": lambda x: x,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "selu": lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(np.minimum(x, 0))),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


@compiled()
def activated(kind, numbers):
    """Return the activations of numbers (n,), whose count is a multiple of WIDE."""
    result = np.empty_like(numbers)
    for i in range(0, len(numbers), WIDE):
        store(result, i, activate(kind, load_wide(numbers, i)))
    return result


def errors(found, exact):
    """Return differences in units in the last place."""
    return np.abs(found - exact) / np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)


@pytest.mark.parametrize(
    ("name", "most"), [("none", 0), ("tanh", 7), ("relu", 0), ("selu", 9), ("sigmoid", 9)]
)
def test_activations_are_exact_to_a_few_last_bits(name, most):
    x = np.linspace(-9, 9, 1 << 16).astype(np.float32)
    found, exact = activated(KINDS[name], x), EXACT[name](x.astype(np.float64))
    # A sigmoid is a half and a tanh, whose last bits are those of 1/2.
    scale = np.spacing(np.float32(0.5)) if name == "sigmoid" else None
    assert (errors(found, exact) if scale is None else np.abs(found - exact) / scale).max() <= most


def test_tanh_is_odd_bounded_and_exact_at_zero():
    x = np.linspace(0, 20, 1 << 16).astype(np.float32)
    found = activated(KINDS["tanh"], x)
    assert found[0] == 0
    assert found.max() <= 1
    np.testing.assert_array_equal(activated(KINDS["tanh"], -x), -found)


@pytest.mark.parametrize("name", activations.NAMES)
def test_what_is_no_number_stays_so_and_infinity_has_its_limit(name):
    x = np.resize(np.array([np.nan, np.inf, -np.inf, 0], np.float32), 2 * WIDE)
    found = activated(KINDS[name], x)
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_allclose(found, EXACT[name](x.astype(np.float64)), rtol=1e-6, atol=1e-7)


def test_the_tanh_of_single_numbers_is_that_of_vectors_to_the_bit():
    x = np.random.default_rng(0).normal(0, 3, (3 * WIDE, 7)).astype(np.float32)
    np.testing.assert_array_equal(tanh_all(x).ravel(), activated(KINDS["tanh"], x.ravel()))


@pytest.mark.slow
def test_tanh_of_every_number_is_exact_to_a_few_last_bits():
    for bits in range(0, 0x7F800000, 1 << 23):  # all positive numbers, by their exponents
        x = np.arange(bits, bits + (1 << 23), dtype=np.uint32).view(np.float32)
        found = activated(KINDS["tanh"], x)
        assert found.max() <= 1
        normal = x >= np.finfo(np.float32).tiny
        assert errors(found[normal], np.tanh(x[normal].astype(np.float64))).max(initial=0) <= 7
