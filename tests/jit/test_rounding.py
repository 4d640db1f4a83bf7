from fractions import Fraction

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.jit.rounding import fma


@compiled()
def fused(a, b, c):
    return fma(a, b, c)


def test_a_product_and_a_sum_are_rounded_once():
    differs = 0
    for a, b, c in np.random.default_rng(0).standard_normal((500, 3)):
        assert fused(a, b, c) == float(Fraction(a) * Fraction(b) + Fraction(c))
        differs += fused(a, b, c) != a * b + c
    assert differs > 50
