"""Activation functions on vectors of float32; all but relu come from one rational tanh."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import first, fmuladd, maximum, minimum, splat_wide

Lanes = Any  # a vector of WIDE numbers
F32 = np.float32

NAMES = ("none", "tanh", "relu", "selu", "sigmoid")
NONE, TANH, RELU, SELU, SIGMOID = range(5)

# Eigen's approximation (MathFunctionsImpl.h): odd powers over even powers, constant beyond the bound. Its
# largest error is 5 units in the last place with FMA and 7 without; no result exceeds 1 in magnitude.
_BOUND = F32(7.99881172180175781)
_ODD = tuple(
    F32(c)
    for c in (
        4.89352455891786e-03,
        6.37261928875436e-04,
        1.48572235717979e-05,
        5.12229709037114e-08,
        -8.60467152213735e-11,
        2.00018790482477e-13,
        -2.76076847742355e-16,
    )
)
_EVEN = tuple(
    F32(c) for c in (4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06)
)
_SELU_ALPHA, _SELU_SCALE = F32(1.6732632423543772), F32(1.0507009873554805)  # arXiv:1706.02515, equation 14


@compiled(borrowing=True)
def activate(kind: int, x: Lanes) -> Lanes:
    """Return the activations of a vector; NaN stays NaN."""
    if kind == TANH:
        x = tanh(x)
    elif kind == RELU:
        x = maximum(splat_wide(F32(0)), x)
    elif kind == SELU:
        x = selu(x)
    elif kind == SIGMOID:
        x = sigmoid(x)
    return x


@compiled(borrowing=True)
def tanh(x: Lanes) -> Lanes:
    """Return the hyperbolic tangent."""
    x = minimum(splat_wide(_BOUND), maximum(splat_wide(-_BOUND), x))
    square = x * x
    odd = fmuladd(splat_wide(_ODD[6]), square, splat_wide(_ODD[5]))
    odd = fmuladd(odd, square, splat_wide(_ODD[4]))
    odd = fmuladd(odd, square, splat_wide(_ODD[3]))
    odd = fmuladd(odd, square, splat_wide(_ODD[2]))
    odd = fmuladd(odd, square, splat_wide(_ODD[1]))
    odd = fmuladd(odd, square, splat_wide(_ODD[0]))
    even = fmuladd(splat_wide(_EVEN[3]), square, splat_wide(_EVEN[2]))
    even = fmuladd(even, square, splat_wide(_EVEN[1]))
    even = fmuladd(even, square, splat_wide(_EVEN[0]))
    return x * (odd / even)


@compiled(borrowing=True)
def sigmoid(x: Lanes) -> Lanes:
    """Return 1 / (1 + exp(-x))."""
    half = splat_wide(F32(0.5))
    return fmuladd(half, tanh(half * x), half)


@compiled(borrowing=True)
def selu(x: Lanes) -> Lanes:
    """Return the SELU, in which exp(x) - 1 is 2 t / (1 - t) with t = tanh(x / 2)."""
    zero = splat_wide(F32(0))
    t = tanh(splat_wide(F32(0.5)) * minimum(zero, x))
    below = (t + t) / (splat_wide(F32(1)) - t)
    return splat_wide(_SELU_SCALE) * fmuladd(splat_wide(_SELU_ALPHA), below, maximum(zero, x))


@compiled(borrowing=True)
def tanh_of(number: np.float32) -> Any:
    """Return tanh of one number."""
    return first(tanh(splat_wide(number)))


@compiled()
def tanh_all(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return tanh of numbers (k, n)."""
    result = np.empty_like(numbers)
    for i in range(numbers.shape[0]):
        for j in range(numbers.shape[1]):
            result[i, j] = tanh_of(numbers[i, j])
    return result
