import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import lane, load, maximum, splat


@compiled()
def largest_in_each_lane(x, out):
    highest = splat(np.float32(-np.inf))
    for i in range(0, len(x), 8):
        highest = maximum(load(x, i), highest)
    for i in range(8):
        out[i] = lane(highest, i)


def test_the_maximum_passes_over_what_is_no_number():
    x = np.array([[1, 5, np.nan, 0, 0, 0, 0, -3], [2, 4, 3, np.nan, 0, 0, 0, -4]], np.float32)
    out = np.empty(8, np.float32)
    largest_in_each_lane(x.ravel(), out)
    assert out.tolist() == [2, 5, 3, 0, 0, 0, 0, -3]
