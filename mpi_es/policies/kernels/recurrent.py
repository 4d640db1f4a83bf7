"""A step of an rnn, lstm or gru and of the linear layer after it, for one network, compiled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import WIDE, fmuladd, load_wide, store
from mpi_es.policies.kernels import activations
from mpi_es.policies.kernels.activations import activate
from mpi_es.policies.kernels.layers import aligned, apply, clear, even, padded

Array = NDArray[np.float32]

RNN, LSTM, GRU = range(3)
KINDS = {"rnn": RNN, "lstm": LSTM, "gru": GRU}
GATES = (1, 4, 3)  # of each kind
STATES = (1, 2, 1)  # kept in the memory: the hidden state, then an lstm's cell


class Scratch(NamedTuple):
    """The shape of a network, and room for a step; all widths are padded."""

    kind: int  # RNN, LSTM or GRU
    activation: int  # of an rnn
    inputs: int
    hidden: int
    outputs: int
    numbers: Array  # the observation, hidden state, gates from the input, gates from the state, outputs
    units: int  # of the hidden state, not padded


def allocate(cell: str, activation: str, inputs: int, hidden: int, outputs: int) -> Scratch:
    """Return room for the steps of a network with one recurrent layer."""
    kind, width = KINDS[cell], padded(hidden)
    room = even(inputs) + width + 2 * GATES[kind] * width + padded(outputs)
    return Scratch(
        kind=kind,
        activation=activations.NAMES.index(activation),
        inputs=even(inputs),
        hidden=width,
        outputs=padded(outputs),
        numbers=aligned(1, room)[0],
        units=hidden,
    )


def sizes_of(scratch: Scratch) -> tuple[int, int, int]:
    """Return the sizes of the three layers: from the input, from the hidden state, to the outputs."""
    gates = GATES[scratch.kind] * scratch.hidden
    return (scratch.inputs + 1) * gates, (scratch.hidden + 1) * gates, (scratch.hidden + 1) * scratch.outputs


@compiled(borrowing=True)
def act(weights: Array, observation: Array, memory: Array, scratch: Scratch, outputs: Array) -> None:
    """Write the outputs for an observation, and the memory over the old one.

    Args:
        memory: the hidden state (units,), in an lstm followed by its cell (units,).
    """
    numbers, inputs, width, units = scratch.numbers, scratch.inputs, scratch.hidden, scratch.units
    for i in range(len(observation)):
        numbers[i] = observation[i]
    for i in range(units):
        numbers[inputs + i] = memory[i]
    gates = width * (4 if scratch.kind == LSTM else 3 if scratch.kind == GRU else 1)
    first, second = inputs + width, inputs + width + gates
    place = (inputs + 1) * gates
    apply(weights, 0, numbers, 0, inputs, gates, activations.NONE, first)
    apply(weights, place, numbers, inputs, width, gates, activations.NONE, second)
    if scratch.kind == LSTM:
        _lstm(numbers, inputs, width, memory, units)
    elif scratch.kind == GRU:
        _gru(numbers, inputs, width)
    else:
        _rnn(numbers, inputs, width, scratch.activation)
    for i in range(units):
        memory[i] = numbers[inputs + i]
    clear(numbers, inputs + units, inputs + width)
    place, last = place + (width + 1) * gates, second + gates
    apply(weights, place, numbers, inputs, width, scratch.outputs, activations.NONE, last)
    for i in range(len(outputs)):
        outputs[i] = numbers[last + i]


@compiled(borrowing=True)
def _rnn(numbers: Array, state: int, width: int, activation: int) -> None:
    """Write the new hidden state over the old one, at index `state`; the gates follow it."""
    for i in range(state, state + width, WIDE):
        total = load_wide(numbers, i + width) + load_wide(numbers, i + 2 * width)
        store(numbers, i, activate(activation, total))


@compiled(borrowing=True)
def _lstm(numbers: Array, state: int, width: int, memory: Array, units: int) -> None:
    """Do the same for an lstm, and write its new cell into the memory."""
    gates = 4 * width  # torch's order: input, forget, cell, output
    first = state + width
    for i in range(first, first + gates, WIDE):
        kind = activations.TANH if 2 * width <= i - first < 3 * width else activations.SIGMOID
        store(numbers, i, activate(kind, load_wide(numbers, i) + load_wide(numbers, i + gates)))
    cell = first + gates  # where the gates from the state were
    for i in range(units):
        numbers[cell + i] = memory[units + i]
    for i in range(0, width, WIDE):
        taken = load_wide(numbers, first + i) * load_wide(numbers, first + 2 * width + i)
        kept = fmuladd(load_wide(numbers, first + width + i), load_wide(numbers, cell + i), taken)
        store(numbers, cell + i, kept)
        shown = activate(activations.TANH, kept)
        store(numbers, state + i, load_wide(numbers, first + 3 * width + i) * shown)
    for i in range(units):
        memory[units + i] = numbers[cell + i]


@compiled(borrowing=True)
def _gru(numbers: Array, state: int, width: int) -> None:
    """Do the same for a gru."""
    gates = 3 * width  # torch's order: reset, update, new
    for i in range(state, state + width, WIDE):
        reset = load_wide(numbers, i + width) + load_wide(numbers, i + width + gates)
        update = load_wide(numbers, i + 2 * width) + load_wide(numbers, i + 2 * width + gates)
        reset, update = activate(activations.SIGMOID, reset), activate(activations.SIGMOID, update)
        new = fmuladd(reset, load_wide(numbers, i + 3 * width + gates), load_wide(numbers, i + 3 * width))
        new = activate(activations.TANH, new)
        store(numbers, i, fmuladd(update, load_wide(numbers, i) - new, new))
