"""Sine and cosine in float32, rounded as glibc's sinf and cosf on a processor with FMA.

The polynomials are glibc's (sincosf_poly.h). `math.sin` and `math.cos` would call the library twice.
"""

import math

import numpy as np

from mpi_es.jit.bits import fma
from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.settings import F32, F64, ONE

_HEX = float.fromhex
_QUARTERS = _HEX("0x1.45F306DC9C883p-1") * 2.0**24  # quarter turns in a radian, times 2**24
_QUARTER = _HEX("0x1.921FB54442D18p0")  # radians
_C1, _C2 = _HEX("-0x1.ffffffd0c621cp-2"), _HEX("0x1.55553e1068f19p-5")
_C3, _C4 = _HEX("-0x1.6c087e89a359dp-10"), _HEX("0x1.99343027bf8c3p-16")
_S1, _S2, _S3 = _HEX("-0x1.555545995a603p-3"), _HEX("0x1.1107605230bc4p-7"), _HEX("-0x1.994eb3774cf24p-13")
_EIGHTH = F32(_HEX("0x1.921FB6p-1"))  # of a turn: below it nothing is reduced
_TINY = F32(2.0**-12)  # below it the sine is the angle
_FAR = F32(120)  # from here on glibc reduces the angle in another way


@compiled()
def sine_cosine(angle: np.float32) -> tuple[np.float32, np.float32]:
    """Return an angle's sine and cosine."""
    size = abs(angle)
    if not size < _FAR:
        return F32(math.sin(angle)), F32(math.cos(angle))
    quarters = 0 if size < _EIGHTH else (int(F64(angle) * _QUARTERS) + 0x800000) >> 24
    x = fma(-float(quarters), _QUARTER, F64(angle))
    x2 = x * x
    x3, x4 = x * x2, x2 * x2
    x5, x6 = x3 * x2, x4 * x2
    sine = fma(x5, fma(x2, _S3, _S2), fma(x3, _S1, x))
    cosine = fma(x6, fma(x2, _C4, _C3), fma(x4, _C2, fma(x2, _C1, 1.0)))
    if quarters & 1:
        sine, cosine = cosine, sine
    sine = -sine if quarters & 2 else sine
    cosine = -cosine if (quarters + 1) & 2 else cosine
    if size < _TINY:
        return angle, ONE
    return F32(sine), F32(cosine)
