"""Linear layers of one network: matrices by columns, so that all outputs are summed side by side.

An output is the sum of two sums, over even and over odd inputs, whatever vectors the machine has. Inputs and
outputs are padded with zeros to whole vectors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import WIDE, fmuladd, load_wide, splat_wide, spread_wide, store
from mpi_es.policies.kernels.activations import activate

Array = NDArray[np.float32]
Lanes = Any  # a vector of WIDE numbers

PAD = 16  # a multiple of WIDE on every machine, for outputs; inputs are even
_LINE = 64  # bytes of a cache line: a vector within one line loads in half the time
_FOUR = 4 * WIDE
F32 = np.float32


def padded(width: int) -> int:
    """Return the next multiple of PAD."""
    return -(-width // PAD) * PAD


def even(inputs: int) -> int:
    """Return the next even number."""
    return inputs + inputs % 2


def aligned(rows: int, columns: int) -> Array:
    """Return zeros (rows, columns), aligned to a cache line."""
    room = np.zeros(rows * columns + _LINE // 4, np.float32)
    first = -room.ctypes.data % _LINE // 4
    return room[first : first + rows * columns].reshape(rows, columns)


def pack(columns: Array, matrices: Array, biases: Array) -> None:
    """Write k layers as `apply` reads them.

    Args:
        columns: zeros (k, inputs + 1, outputs), padded: a column of each input, then the biases.
        matrices: (k, outputs, inputs), as torch has them.
        biases: (k, outputs).
    """
    _, outputs, inputs = matrices.shape
    columns[:, :inputs, :outputs] = matrices.swapaxes(1, 2)
    columns[:, -1, :outputs] = biases


@compiled(borrowing=True)
def clear(numbers: Array, first: int, end: int) -> None:
    """Write zeros over a layer's padding, which is NaN after an infinite number, or another network's."""
    for i in range(first, end):
        numbers[i] = F32(0)


@compiled(borrowing=True)
def apply(
    weights: Array, place: int, numbers: Array, first: int, inputs: int, width: int, kind: int, target: int
) -> None:
    """Write a layer's activations (width,).

    Args:
        weights: flat; the layer begins at `place`: a column for each input, then the biases.
        numbers: `inputs` of them are read from `first` on, and `width` are written from `target` on.
        inputs, width: padded.
    """
    j = 0
    while j + _FOUR <= width:
        _apply_to_four(weights, place + j, numbers, first, inputs, width, kind, target + j)
        j += _FOUR
    while j < width:
        _apply_to_one(weights, place + j, numbers, first, inputs, width, kind, target + j)
        j += WIDE


@compiled(borrowing=True)
def _apply_to_four(
    weights: Array, place: int, numbers: Array, first: int, inputs: int, width: int, kind: int, target: int
) -> None:
    """Write four vectors of activations: as many sums as the processor can add at once."""
    bias, zero = place + inputs * width, splat_wide(F32(0))
    even_0, odd_0 = load_wide(weights, bias), zero
    even_1, odd_1 = load_wide(weights, bias + WIDE), zero
    even_2, odd_2 = load_wide(weights, bias + 2 * WIDE), zero
    even_3, odd_3 = load_wide(weights, bias + 3 * WIDE), zero
    for i in range(first, first + inputs, 2):
        number = spread_wide(numbers, i)
        even_0 = fmuladd(load_wide(weights, place), number, even_0)
        even_1 = fmuladd(load_wide(weights, place + WIDE), number, even_1)
        even_2 = fmuladd(load_wide(weights, place + 2 * WIDE), number, even_2)
        even_3 = fmuladd(load_wide(weights, place + 3 * WIDE), number, even_3)
        place += width
        number = spread_wide(numbers, i + 1)
        odd_0 = fmuladd(load_wide(weights, place), number, odd_0)
        odd_1 = fmuladd(load_wide(weights, place + WIDE), number, odd_1)
        odd_2 = fmuladd(load_wide(weights, place + 2 * WIDE), number, odd_2)
        odd_3 = fmuladd(load_wide(weights, place + 3 * WIDE), number, odd_3)
        place += width
    store(numbers, target, activate(kind, even_0 + odd_0))
    store(numbers, target + WIDE, activate(kind, even_1 + odd_1))
    store(numbers, target + 2 * WIDE, activate(kind, even_2 + odd_2))
    store(numbers, target + 3 * WIDE, activate(kind, even_3 + odd_3))


@compiled(borrowing=True)
def _apply_to_one(
    weights: Array, place: int, numbers: Array, first: int, inputs: int, width: int, kind: int, target: int
) -> None:
    """Write one vector of activations."""
    even, odd = load_wide(weights, place + inputs * width), splat_wide(F32(0))
    for i in range(first, first + inputs, 2):
        even = fmuladd(load_wide(weights, place), spread_wide(numbers, i), even)
        odd = fmuladd(load_wide(weights, place + width), spread_wide(numbers, i + 1), odd)
        place += 2 * width
    store(numbers, target, activate(kind, even + odd))
