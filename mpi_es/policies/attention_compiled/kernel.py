"""A step of the self-attention agent for one network, compiled; `attention.py` is the same in torch.

A step allocates nothing and shares only its arguments, so that several threads may run it at once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.policies.attention_compiled import patches as attention_patches
from mpi_es.policies.attention_compiled import softmax
from mpi_es.policies.attention_compiled.controller import Activations, Controller, control
from mpi_es.policies.attention_compiled.patches import PATCH, STRIDE, Patches, find_kinds, grid, project
from mpi_es.policies.attention_compiled.softmax import SoftmaxScratch, sum_columns


class Weights(NamedTuple):
    """The weights of a network, laid out for a step; for k networks, each array has a first axis k."""

    projection: NDArray[np.float32]  # (147 * 8,) a pixel's weights in a query, then in a key
    bias: NDArray[np.float32]  # (8,)
    controller: Controller


class Scratch(NamedTuple):
    """The arrays of a step. `importance` and `chosen` may be read afterwards."""

    patches: Patches
    attention: SoftmaxScratch
    activations: Activations
    importance: NDArray[np.float32]  # (patches,) how much attention each patch got from all of them
    chosen: NDArray[np.int64]  # (top_k,) the most important patches, highest first
    read: NDArray[np.int64]  # (top_k,) the same, in the order in which the controller reads them
    by_column: bool  # whether this order is from left to right


def allocate(size: int, top_k: int, gates: int, by_column: bool = False) -> Scratch:
    """Return room for steps on pictures (size, size, 3).

    Args:
        gates: size of the controller's hidden layer, all gates together.
        by_column: whether the controller reads the chosen patches from left to right.
    """
    count = grid(size) ** 2
    return Scratch(
        attention_patches.allocate(size),
        softmax.allocate(count),
        Activations(np.zeros(2 * top_k, np.float32), np.zeros(gates, np.float32)),
        np.zeros(count, np.float32),
        np.zeros(top_k, np.int64),
        np.zeros(top_k, np.int64),
        by_column,
    )


@compiled()
def act(
    weights: Weights,
    frame: NDArray[np.uint8],
    memory: NDArray[np.float32],
    scratch: Scratch,
    outputs: NDArray[np.float32],
) -> None:
    """Write the outputs in [-1, 1] for a frame (size, size, 3), and the memory over the old one."""
    attend(weights, frame, scratch)
    _order(grid(frame.shape[0]), scratch)
    _centres(frame.shape[0], scratch.read, scratch.activations.features)
    control(weights.controller, scratch.activations, memory, outputs)


@compiled()
def attend(weights: Weights, frame: NDArray[np.uint8], scratch: Scratch) -> None:
    """Write the importance of the frame's patches and which are chosen."""
    patches, attention = scratch.patches, scratch.attention
    kinds = find_kinds(frame, patches)
    project(kinds, patches, weights.projection, weights.bias, attention.projected)
    sum_columns(kinds, patches.repeats, attention)
    for i in range(len(scratch.importance)):
        scratch.importance[i] = attention.importance[patches.kind[i]]
    choose(scratch.importance, scratch.chosen)


@compiled()
def choose(importance: NDArray[np.float32], chosen: NDArray[np.int64]) -> None:
    """Write the indices of the highest numbers, highest first; of equal ones, lower indices first."""
    filled, last = 0, len(chosen) - 1
    for i in range(len(importance)):
        if filled > last and not importance[i] > importance[chosen[last]]:
            continue
        place = min(filled, last)
        while place > 0 and importance[i] > importance[chosen[place - 1]]:
            chosen[place] = chosen[place - 1]
            place -= 1
        chosen[place] = i
        filled = min(filled + 1, last + 1)


@compiled()
def _order(columns: int, scratch: Scratch) -> None:
    """Write the chosen patches in the order in which the controller reads them."""
    chosen, read = scratch.chosen, scratch.read
    for i in range(len(chosen)):
        place = i
        while scratch.by_column and place > 0 and _is_left(chosen[i], read[place - 1], columns):
            read[place] = read[place - 1]
            place -= 1
        read[place] = chosen[i]


@compiled()
def _is_left(a: int, b: int, columns: int) -> bool:
    """Return whether patch a comes before b, column by column."""
    left: bool = (a % columns, a) < (b % columns, b)
    return left


@compiled()
def _centres(size: int, read: NDArray[np.int64], features: NDArray[np.float32]) -> None:
    """Write row and column of each patch's centre, as shares of the picture."""
    columns = grid(size)
    for i in range(len(read)):
        row, column = read[i] // columns, read[i] % columns
        features[2 * i] = np.float32(STRIDE * row + PATCH // 2) / np.float32(size)
        features[2 * i + 1] = np.float32(STRIDE * column + PATCH // 2) / np.float32(size)
