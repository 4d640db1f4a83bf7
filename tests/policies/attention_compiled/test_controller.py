import numpy as np
import pytest
import torch

from mpi_es.policies.attention_compiled import controller
from mpi_es.policies.attention_compiled.controller import Activations, Controller, control

INPUTS, HIDDEN, OUTPUTS = 6, 4, 3
TORCH = {"lstm": torch.nn.LSTMCell, "rnn": lambda i, h: torch.nn.RNNCell(i, h, nonlinearity="relu")}


@pytest.mark.parametrize("kind", ["lstm", "rnn"])
def test_a_step_is_that_of_torch_s_cell_and_a_linear_layer(kind):
    torch.manual_seed(0)
    cell, last = TORCH[kind](INPUTS, HIDDEN), torch.nn.Linear(HIDDEN, OUTPUTS)
    wi, wh, bi, bh, wo, bo = (p.detach().numpy() for p in (*cell.parameters(), *last.parameters()))
    columns = [np.ascontiguousarray(matrix.T) for matrix in (wi, wh, wo)]
    weights = Controller(controller.KINDS[kind], columns[0], columns[1], bi + bh, columns[2], bo)
    gates = np.zeros(controller.GATES[weights.kind] * HIDDEN, np.float32)
    memory, state, out = np.zeros((1 + (kind == "lstm")) * HIDDEN, np.float32), None, np.zeros(3, np.float32)
    for t in range(4):
        features = np.linspace(-1, t, INPUTS, dtype=np.float32)
        control(weights, Activations(features, gates), memory, out)
        with torch.no_grad():
            state = cell(torch.from_numpy(features)[None], state)
            states = state if kind == "lstm" else (state,)
            np.testing.assert_allclose(out, torch.tanh(last(states[0]))[0], atol=1e-6)
        np.testing.assert_allclose(memory, torch.cat(states, dim=1)[0], atol=1e-6)


def test_an_mlp_s_memory_is_filled_by_the_first_frame_and_then_moves_on():
    zeros = np.zeros((2 * INPUTS, HIDDEN), np.float32)
    bias, last = np.zeros(HIDDEN, np.float32), np.zeros((HIDDEN, OUTPUTS), np.float32)
    weights = Controller(controller.MLP, zeros, zeros[:0], bias, last, np.full(OUTPUTS, 0.5, np.float32))
    memory, out = np.full(2 * INPUTS, controller.NOTHING_SEEN), np.zeros(OUTPUTS, np.float32)
    first, second = (np.arange(INPUTS, dtype=np.float32) + k for k in (0, 10))
    for features, expected in ((first, [*first, *first]), (second, [*first, *second])):
        control(weights, Activations(features, bias.copy()), memory, out)
        assert memory.tolist() == expected
    np.testing.assert_allclose(out, np.tanh(0.5), rtol=1e-6)
