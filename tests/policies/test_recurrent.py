import numpy as np
import pytest
import torch
from gymnasium import spaces

from mpi_es.policies.recurrent import Recurrent

VECTOR, TWO = spaces.Box(-1, 1, (3,), np.float32), spaces.Discrete(2)
CELLS = {"rnn": torch.nn.RNNCell, "lstm": torch.nn.LSTMCell, "gru": torch.nn.GRUCell}


@pytest.mark.parametrize("cell", CELLS)
def test_a_step_is_that_of_torch_s_cell(cell):
    policy, theirs = Recurrent(Recurrent.Options(cell, hidden=(4,)), VECTOR, TWO), CELLS[cell](3, 4)
    parameters = np.random.default_rng(0).normal(0, 2, (1, policy.dim)).astype(np.float32)
    inner = sum(p.numel() for p in theirs.parameters())
    torch.nn.utils.vector_to_parameters(torch.from_numpy(parameters[0, :inner]), theirs.parameters())
    memory, state, weights = policy.initial_memory(1), None, policy.unpack(parameters)
    for t in range(5):
        x = np.full((1, 3), 0.3 * t, np.float32)
        _, memory = policy.outputs(weights, x, memory)
        with torch.no_grad():
            state = theirs(torch.from_numpy(x), state)
        expected = torch.cat(state, dim=1) if cell == "lstm" else state
        np.testing.assert_allclose(memory, expected, atol=1e-6)


def test_gates_that_saturate_do_not_overflow():
    policy = Recurrent(Recurrent.Options("lstm", hidden=(4,)), VECTOR, TWO)
    weights = policy.unpack(np.full((1, policy.dim), 1e30, np.float32))
    with np.errstate(over="raise", invalid="raise"):
        _, memory = policy.outputs(weights, np.ones((1, 3), np.float32), policy.initial_memory(1))
    assert np.isfinite(memory).all()
