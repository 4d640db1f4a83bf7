import numpy as np
import pytest

from mpi_es.jit.simd import WIDE
from mpi_es.policies.kernels.activations import NONE
from mpi_es.policies.kernels.layers import aligned, apply, even, pack, padded


@pytest.mark.parametrize("inputs", [1, 2, 7, 24])
@pytest.mark.parametrize("outputs", [1, 16, 33, 64, 80])
def test_an_output_is_the_sum_over_even_and_over_odd_inputs(inputs, outputs):
    rng = np.random.default_rng(0)
    matrices = rng.integers(-9, 9, (3, outputs, inputs)).astype(np.float32)
    biases = rng.integers(-9, 9, (3, outputs)).astype(np.float32)
    layers = aligned(3, (even(inputs) + 1) * padded(outputs))
    pack(layers.reshape(3, -1, padded(outputs)), matrices, biases)
    numbers = aligned(1, even(inputs) + padded(outputs))[0]
    numbers[:inputs] = rng.integers(-9, 9, inputs)
    for layer, matrix, bias in zip(layers, matrices, biases, strict=True):
        apply(layer, 0, numbers, 0, even(inputs), padded(outputs), NONE, even(inputs))
        found = numbers[even(inputs) :]
        # Sums of small whole numbers are exact.
        np.testing.assert_array_equal(found[:outputs], matrix @ numbers[:inputs] + bias)
        assert not found[outputs:].any()


def test_vectors_do_not_cross_cache_lines():
    assert padded(1) % WIDE == 0
    assert [aligned(3, 32).ctypes.data % 64 for _ in range(20)] == [0] * 20
