from fractions import Fraction

import numpy as np

from mpi_es.jit.bits import fma, highest, lowest, read_uint32, read_uint64
from mpi_es.jit.decorator import compiled


@compiled()
def ends(numbers, out):
    for i in range(len(numbers)):
        out[i, 0], out[i, 1] = lowest(numbers[i]), highest(numbers[i])


def test_bits_are_those_of_python_s_integers():
    rng = np.random.default_rng(0)
    numbers = np.append(rng.integers(1, 1 << 62, 200) >> rng.integers(0, 62, 200) | 1 << 3, [1, -1, -(2**63)])
    out = np.empty((len(numbers), 2), np.int64)
    ends(numbers, out)
    for number, (low, high) in zip(numbers.tolist(), out.tolist(), strict=True):
        unsigned = number % 2**64
        assert low == (unsigned & -unsigned).bit_length() - 1
        assert high == unsigned.bit_length() - 1


@compiled()
def words(numbers, four, eight):
    for i in range(len(four)):
        four[i], eight[i] = read_uint32(numbers, i), read_uint64(numbers, i)


def test_bytes_are_read_as_words_from_any_place_on():
    numbers = np.random.default_rng(0).integers(0, 256, 30, np.uint8)
    four, eight = np.zeros(20, np.uint32), np.zeros(20, np.uint64)
    words(numbers, four, eight)
    assert four.tolist() == [np.frombuffer(numbers[i : i + 4].tobytes(), np.uint32)[0] for i in range(20)]
    assert eight.tolist() == [np.frombuffer(numbers[i : i + 8].tobytes(), np.uint64)[0] for i in range(20)]


@compiled()
def fused(a, b, c):
    return fma(a, b, c)


def test_a_product_and_a_sum_are_rounded_once():
    differs = 0
    for a, b, c in np.random.default_rng(0).standard_normal((500, 3)):
        assert fused(a, b, c) == float(Fraction(a) * Fraction(b) + Fraction(c))
        differs += fused(a, b, c) != a * b + c
    assert differs > 50
