"""numpy's sine and cosine of a float32, for angles below pi / 4: its polynomials, with its roundings.

numpy uses these operations on every processor with FMA. Acrobot's first observation needs them.
"""

from typing import Any

import numpy as np

from mpi_es.jit.bits import fmuladd
from mpi_es.jit.decorator import compiled

F32 = np.float32
# The coefficients of numpy's loops_trigonometric.dispatch.cpp, by the power of the angle
_C2, _C4, _C6, _C8 = map(F32, (-0.5, 0.04166662, -0.001388652, 2.4372266e-05))
_S3, _S5, _S7, _S9 = map(F32, (-0.16666667, 0.008333397, -0.00019856491, 2.8404097e-06))


@compiled()
def cosine(x: Any) -> Any:
    """Return numpy's cosine."""
    square = x * x
    return fmuladd(fmuladd(fmuladd(fmuladd(_C8, square, _C6), square, _C4), square, _C2), square, F32(1))


@compiled()
def sine(x: Any) -> Any:
    """Return numpy's sine."""
    square = x * x
    return fmuladd(fmuladd(fmuladd(fmuladd(_S9, square, _S7), square, _S5), square, _S3) * square, x, x)
