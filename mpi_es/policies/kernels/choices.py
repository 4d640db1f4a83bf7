"""From a network's outputs to an action in compiled code, bit-identical to policies/actions.py."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.policies.kernels.activations import tanh_of

Array = NDArray[np.float32]


def choice_for(space: Any, kind: str, squashed: bool) -> Any:
    """Return choose(outputs, scale, action), which writes an action of the space; None if no choice is
    compiled for it.

    Args:
        kind: "argmax", "tanh", "clip" or "auto", as for `actions_for`; so is `squashed`.
    """
    if isinstance(space, spaces.Discrete):
        return largest if abs(int(space.start)) < 2**24 else None  # the scale holds it as float32
    if not isinstance(space, spaces.Box) or space.dtype != np.float32 or len(space.shape) != 1:
        return None
    if kind == "clip":
        return clipped
    return scaled if squashed else squashed_and_scaled


def scale_for(space: Any) -> Array:
    """Return the numbers that a choice reads: factor, shift and bounds (4, n), or the first action (1, 1)."""
    if isinstance(space, spaces.Discrete):
        return np.full((1, 1), space.start, np.float32)
    low, high = space.low, space.high
    with np.errstate(invalid="ignore"):  # without bounds the shift is NaN, which `clipped` does not read
        return np.stack([high / 2 - low / 2, low / 2 + high / 2, low, high]).astype(np.float32)


@compiled(borrowing=True)
def largest(outputs: Array, scale: Array, action: NDArray[np.int64]) -> None:
    """Write the action of the largest output, the first of equal ones; NaN counts as larger."""
    best = 0
    for i in range(1, len(outputs)):
        if not math.isnan(outputs[best]) and (outputs[i] > outputs[best] or math.isnan(outputs[i])):
            best = i
    action[0] = best + int(scale[0, 0])


@compiled(borrowing=True)
def clipped(outputs: Array, scale: Array, action: Array) -> None:
    """Write the outputs within the bounds."""
    for i in range(len(outputs)):
        action[i] = clip(outputs[i], scale[2, i], scale[3, i])


@compiled(borrowing=True)
def scaled(outputs: Array, scale: Array, action: Array) -> None:
    """Write outputs in [-1, 1], scaled to the bounds, and clipped,
    since rounding may exceed them by one bit.
    """
    for i in range(len(outputs)):
        action[i] = clip(outputs[i] * scale[0, i] + scale[1, i], scale[2, i], scale[3, i])


@compiled(borrowing=True)
def squashed_and_scaled(outputs: Array, scale: Array, action: Array) -> None:
    """Write the outputs' tanh, scaled to the bounds."""
    for i in range(len(outputs)):
        outputs[i] = tanh_of(outputs[i])
    scaled(outputs, scale, action)


@compiled(borrowing=True)
def clip(number: Any, low: Any, high: Any) -> Any:
    """Return a number clipped as numpy does: NaN stays NaN."""
    if number < low:
        return low
    return high if number > high else number
