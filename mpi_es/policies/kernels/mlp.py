"""A step of a multilayer perceptron for one network, compiled."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.policies.kernels import activations
from mpi_es.policies.kernels.layers import aligned, apply, clear, even, padded

Array = NDArray[np.float32]


class Scratch(NamedTuple):
    """The shape of a network, and room for a step."""

    sizes: NDArray[np.int64]  # (layers + 1,) of the inputs and of each layer's outputs
    widths: NDArray[np.int64]  # the same, padded
    activation: int  # of the hidden layers
    numbers: Array  # the observation, then each layer's outputs


def allocate(sizes: Sequence[int], activation: str) -> Scratch:
    """Return room for the steps of a network with layers of these sizes, inputs first."""
    widths = [even(sizes[0]), *map(padded, sizes[1:])]
    kind, numbers = activations.NAMES.index(activation), aligned(1, sum(widths))[0]
    return Scratch(np.array(sizes), np.array(widths), kind, numbers)


@compiled(borrowing=True)
def act(weights: Array, observation: Array, memory: Array, scratch: Scratch, outputs: Array) -> None:
    """Write the outputs for an observation; the memory is empty."""
    widths, numbers = scratch.widths, scratch.numbers
    for i in range(len(observation)):
        numbers[i] = observation[i]
    place, first = 0, 0
    for layer in range(1, len(widths)):
        inputs, width = widths[layer - 1], widths[layer]
        is_last, target = layer == len(widths) - 1, first + inputs
        kind = activations.NONE if is_last else scratch.activation
        apply(weights, place, numbers, first, inputs, width, kind, target)
        if not is_last:
            clear(numbers, target + scratch.sizes[layer], target + width)
        place, first = place + (inputs + 1) * width, target
    for i in range(len(outputs)):
        outputs[i] = numbers[first + i]
