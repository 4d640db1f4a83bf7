import numpy as np

from mpi_es.policies.attention_compiled import controller
from mpi_es.policies.attention_compiled.controller import Activations, Controller, control

INPUTS, HIDDEN, OUTPUTS = 6, 4, 3


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
