from pathlib import Path

import numpy as np
import pytest

from mpi_es.jit import simd
from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import (
    WIDE,
    first,
    load,
    load_wide,
    maximum,
    minimum,
    shift_into_exponent,
    store,
    store_bytes,
    total,
)

CPUINFO = Path("/proc/cpuinfo")


@compiled()
def larger(x, y, out):
    store(out, 0, maximum(load(x, 0), load(y, 0)))


def test_the_maximum_passes_over_what_is_no_number_in_the_first():
    x, y = np.array([[1, 5, np.nan, 0, 0, 0, 0, -3], [2, 4, 3, 0, 0, 0, 0, -4]], np.float32)
    out = np.empty(8, np.float32)
    larger(x, y, out)
    assert out.tolist() == [2, 5, 3, 0, 0, 0, 0, -3]


@compiled()
def smaller(x, y, out):
    store(out, 0, minimum(load(x, 0), load(y, 0)))
    out[7] = first(load(x, 0))


def test_the_minimum_passes_over_what_is_no_number_in_the_first():
    x, y = np.array([[1, 5, np.nan, 0, 0, 0, -3, 0], [2, 4, 3, 0, 0, 0, -4, 0]], np.float32)
    out = np.empty(8, np.float32)
    smaller(x, y, out)
    assert out.tolist() == [1, 4, 3, 0, 0, 0, -4, 1]


@compiled()
def totals(x, out):
    out[0], out[1] = total(load(x, 0)), total(load_wide(x, 0))


def test_a_total_adds_the_upper_half_to_the_lower_one():
    x, out = np.random.default_rng(0).standard_normal(16).astype(np.float32), np.zeros(2, np.float32)
    totals(x, out)
    for found, rest in zip(out, (x[:8], x[:WIDE]), strict=True):
        while len(rest) > 1:
            rest = rest[: len(rest) // 2] + rest[len(rest) // 2 :]
        assert found == rest[0]


@compiled()
def scale(x, exponents, out):
    store(out, 0, shift_into_exponent(load(x, 0), load(exponents, 0)))


def test_whole_numbers_in_the_lowest_bits_are_powers_of_two():
    exponents = np.arange(-4, 4)
    x, out = np.full(8, 1.5, np.float32), np.zeros(8, np.float32)
    scale(x, (exponents + 1.5 * 2**23).astype(np.float32), out)
    assert out.tolist() == (1.5 * 2.0**exponents).tolist()


@compiled()
def interleave(x, out):
    store_bytes(out, 0, load(x, 0), load(x, 8), load(x, 16))


def test_three_vectors_are_written_as_bytes_in_turn():
    x, out = np.arange(24, dtype=np.float32).reshape(3, 8) * 10 + np.float32(0.9), np.zeros(24, np.uint8)
    interleave(x.ravel(), out)
    assert out.tolist() == x.T.ravel().astype(np.uint8).tolist()


@pytest.mark.skipif(not CPUINFO.exists(), reason="needs /proc/cpuinfo")
def test_a_wide_vector_has_sixteen_lanes_where_linux_says_that_the_processor_has_avx512():
    assert (16 if " avx512f " in CPUINFO.read_text() else 8) == simd.WIDE
