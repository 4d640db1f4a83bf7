"""From the centres of the chosen patches to outputs, with an LSTM, RNN or MLP: compiled, for one network."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled

Array = NDArray[np.float32]

LSTM, RNN, MLP = range(3)
KINDS = {"lstm": LSTM, "rnn": RNN, "mlp": MLP}
GATES = (4, 1, 1)  # of each kind
NOTHING_SEEN = np.float32(-1)  # an mlp's memory at an episode's start; no centre is negative


class Controller(NamedTuple):
    """A network's weights, with a row for each input, so that loops run over outputs side by side."""

    kind: int  # LSTM, RNN or MLP
    input: Array  # (inputs, gates * hidden)
    hidden: Array  # (hidden, gates * hidden); (0, hidden) for an mlp
    bias: Array  # (gates * hidden,) of input and hidden together
    output: Array  # (hidden, outputs)
    output_bias: Array  # (outputs,)


class Activations(NamedTuple):
    """Scratch for one step."""

    features: Array  # (2 * top_k,) the centres, row and column
    gates: Array  # (gates * hidden,)


@compiled()
def control(weights: Controller, activations: Activations, memory: Array, outputs: Array) -> None:
    """Write the outputs in [-1, 1] for the features, and the memory afterwards.

    Args:
        memory: an lstm's hidden state and cell (2 * hidden,), an rnn's hidden state, or an mlp's last
            frames (num_frames * inputs,).
    """
    gates = activations.gates
    _copy(weights.bias, gates)
    if weights.kind == MLP:
        _remember(activations.features, memory)
        _add_product(weights.input, memory, gates)
        _relu(gates)
        hidden = gates
    else:
        hidden = memory[: len(weights.hidden)]
        _add_product(weights.input, activations.features, gates)
        _add_product(weights.hidden, hidden, gates)
        if weights.kind == LSTM:
            _lstm(gates, memory)
        else:
            _relu(gates)
            _copy(gates, hidden)
    _copy(weights.output_bias, outputs)
    _add_product(weights.output, hidden, outputs)
    for i in range(len(outputs)):
        outputs[i] = np.tanh(outputs[i])


@compiled()
def _copy(x: Array, out: Array) -> None:
    for i in range(len(x)):  # out[:] = x would take numba seconds to compile
        out[i] = x[i]


@compiled(fastmath={"contract"})
def _add_product(matrix: Array, x: Array, out: Array) -> None:
    """Add matrix (inputs, outputs), transposed, times x to out."""
    for i in range(len(x)):
        for j in range(len(out)):
            out[j] += matrix[i, j] * x[i]


@compiled()
def _relu(x: Array) -> None:
    for i in range(len(x)):
        x[i] = max(x[i], np.float32(0))


@compiled()
def _lstm(gates: Array, memory: Array) -> None:
    """Step an LSTM; its gates are in torch's order: input, forget, cell, output."""
    n = len(memory) // 2
    hidden, cell = memory[:n], memory[n:]
    for i in range(n):
        new = np.tanh(gates[2 * n + i])
        cell[i] = _sigmoid(gates[n + i]) * cell[i] + _sigmoid(gates[i]) * new
        hidden[i] = _sigmoid(gates[3 * n + i]) * np.tanh(cell[i])


@compiled()
def _sigmoid(x: np.float32) -> np.float32:
    one = np.float32(1)
    share: np.float32 = one / (one + np.exp(-x))  # an overflow to infinity gives the right 0
    return share


@compiled()
def _remember(features: Array, memory: Array) -> None:
    """Drop the oldest frame of the memory and append the features; at an episode's start they fill it."""
    n = len(features)
    kept = len(memory) - n
    if memory[0] == NOTHING_SEEN:
        for i in range(kept):
            memory[i] = features[i % n]
    else:
        for i in range(kept):
            memory[i] = memory[i + n]
    _copy(features, memory[kept:])
