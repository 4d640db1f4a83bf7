from pathlib import Path

import numpy as np
import pytest

from mpi_es.jit import simd
from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import (
    WIDE,
    first,
    get,
    load,
    load_wide,
    maximum,
    minimum,
    put,
    shift_into_exponent,
    store,
    store_bytes,
    total,
    where_at_least,
    where_less,
    where_more,
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


@compiled()
def change(record):
    a, b = get(record.a), get(record.b)
    put(record.less, where_less(a, b, -a, b))
    put(record.more, where_more(a, b, a, -b))
    put(record.at_least, where_at_least(a, b, a + b, a * b))


@pytest.mark.parametrize("width", [8, 16, 32])
def test_fields_of_a_record_are_vectors_of_their_length(width):
    names = ("a", "b", "less", "more", "at_least")
    record = np.zeros(1, [(name, np.float32, (width,)) for name in names])[0]
    a, b = np.random.default_rng(0).integers(-3, 4, (2, width)).astype(np.float32)
    record["a"], record["b"] = a, b
    change(record)
    np.testing.assert_array_equal(record["less"], np.where(a < b, -a, b))
    np.testing.assert_array_equal(record["more"], np.where(a > b, a, -b))
    np.testing.assert_array_equal(record["at_least"], np.where(a >= b, a + b, a * b))
