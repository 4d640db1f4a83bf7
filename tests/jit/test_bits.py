import numpy as np

from mpi_es.jit.bits import highest, lowest
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
