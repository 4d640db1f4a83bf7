import ctypes
import math

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.sines import sine_cosine

# Without it glibc rounds otherwise, some ten floats in a billion; Box2D's results then differ from ours.
needs_fma = pytest.mark.skipif(not get_host_cpu_features().get("fma"), reason="this processor has no FMA")


@compiled()
def count_differences(first, last, step):
    """Compare the floats whose bits are from first to last with the C library's, and their opposites."""
    bits, count = np.empty(1, np.uint32), 0
    number = bits.view(np.float32)
    for pattern in range(first, last, step):
        bits[0] = pattern
        for x in (number[0], -number[0]):
            sine, cosine = sine_cosine(x)
            count += sine != math.sin(x) or cosine != math.cos(x)
    return count


def bits(number):
    return int(np.float32(number).view(np.uint32))


@needs_fma
@pytest.mark.parametrize("step", [5003, pytest.param(1, marks=pytest.mark.slow)])
def test_sine_and_cosine_are_the_c_library_s_to_the_bit(step):
    assert count_differences(0, bits(150), step) == 0


@needs_fma
def test_the_c_library_is_that_which_box2d_calls():
    library = ctypes.CDLL("libm.so.6")
    for function in (library.sinf, library.cosf):
        function.argtypes, function.restype = [ctypes.c_float], ctypes.c_float
    for angle in np.random.default_rng(0).uniform(-200, 200, 2000).astype(np.float32):
        assert sine_cosine(angle) == (library.sinf(angle), library.cosf(angle))
