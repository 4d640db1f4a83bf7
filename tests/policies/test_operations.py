import numpy as np
import pytest
import torch
from torch import nn
from torch.func import vmap
from torch.fx.experimental.proxy_tensor import make_fx

from mpi_es.policies.operations import Cells, compiled, complaint, multiplications, product

TILE = 32


def program(function, *inputs):
    axes = tuple(0 if len(tensor) == TILE else None for tensor in inputs)
    return make_fx(vmap(function, in_dims=axes))(*inputs)


def test_products_are_those_of_numpy_and_equal_wherever_a_matrix_lies():
    rng = np.random.default_rng(0)
    for _ in range(200):
        m, k, n = rng.integers(1, [3, 100, 100])
        left, right = (rng.standard_normal(shape, np.float32) for shape in ((m, k), (k, n)))
        stacked = [torch.from_numpy(np.stack([matrix] * TILE)) for matrix in (left, right)]
        products = product(*stacked).numpy()
        np.testing.assert_allclose(products[0], left @ right, rtol=1e-3, atol=1e-4)
        assert {matrix.tobytes() for matrix in products} == {products[0].tobytes()}


@pytest.mark.parametrize(
    "cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell, lambda *a: nn.RNNCell(*a, nonlinearity="relu")]
)
@pytest.mark.parametrize("begun", [False, True])
def test_cells_by_their_equations_are_those_of_torch(cell, begun):
    torch.manual_seed(0)
    module, x = cell(5, 3), torch.randn(1, 5)
    memory = module(x) if begun else None
    expected = module(x, memory)
    with Cells():
        found = module(x, memory)
    torch.testing.assert_close(found, expected)


WEIGHTS, SEEN = torch.randn(TILE, 7, 3), torch.randn(TILE, 1, 3)


def test_a_program_of_products_and_activations_is_without_complaint():
    traced = program(lambda w, x: nn.functional.selu(x @ w.T), WEIGHTS, SEEN)
    assert complaint(traced.graph, TILE) == ""
    assert multiplications(traced.graph) == TILE * 7 * 3
    torch.testing.assert_close(compiled(traced)(WEIGHTS, SEEN), nn.functional.selu(SEEN @ WEIGHTS.mT))


@pytest.mark.parametrize(
    ("function", "inputs", "reason"),
    [
        (lambda w, x: x @ w, (torch.randn(3, 4), SEEN), "aten.mm"),
        (lambda x: x.sort().values, (SEEN,), "aten.sort"),
        (lambda x: x.half().tanh(), (SEEN,), "torch.float16"),
        (lambda x: x.tanh_(), (SEEN.clone(),), "changes its buffers"),
        (nn.functional.conv1d, (torch.randn(TILE, 1, 3, 5), torch.randn(2, 3, 1)), "aten.convolution"),
    ],
    ids=["one matrix for all", "sort", "half precision", "in place", "one kernel for all"],
)
def test_a_program_whose_rows_may_differ_is_refused(function, inputs, reason):
    assert reason in complaint(program(function, *inputs).graph, TILE)


def test_multiplications_of_a_convolution_are_counted_at_each_place():
    kernels, pictures = torch.randn(TILE, 4, 3, 2, 2), torch.randn(TILE, 1, 3, 6, 6)
    traced = program(lambda k, x: nn.functional.conv2d(x, k, stride=2), kernels, pictures)
    assert multiplications(traced.graph) == TILE * (4 * 3 * 2 * 2) * 9
