"""numpy's generator in compiled code: SeedSequence, PCG64 and the draws that gymnasium's environments make.

A reset with a seed must draw exactly what `numpy.random.Generator(PCG64(SeedSequence(seed)))` gives
gymnasium; the algorithms are numpy's (bit_generator.pyx, pcg64.h, distributions.c), the words 64 bits wide.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled

# Indices in the generator's array
STATE_HIGH, STATE_LOW, INCREMENT_HIGH, INCREMENT_LOW, HALF_WAITS, HALF = range(6)

U64 = np.uint64
MASK_32 = U64(0xFFFFFFFF)
SHIFT_32 = U64(32)
SHIFT_16 = U64(16)

# SeedSequence's hash, from M. E. O'Neill's seed_seq_fe128; 32-bit arithmetic
POOL = 4
INIT_A, MULTIPLY_A = U64(0x43B0D7E5), U64(0x931E8875)
INIT_B, MULTIPLY_B = U64(0x8B51F9DD), U64(0x58F38DED)
MIX_LEFT, MIX_RIGHT = U64(0xCA01F9DD), U64(0x4973F715)

# PCG64's multiplier, of 128 bits
MULTIPLIER_HIGH, MULTIPLIER_LOW = U64(2549297995355413924), U64(4865540595714422341)

TO_UNIT = 1.0 / 2.0**53  # 53 random bits to [0, 1)


def allocate() -> NDArray[np.uint64]:
    """Return the array of a generator that is not seeded yet."""
    return np.zeros(6, np.uint64)


def state_of(generator: NDArray[np.uint64]) -> dict[str, Any]:
    """Return the generator as the `state` of numpy's PCG64."""
    high, low, increment_high, increment_low, waits, half = map(int, generator)
    numbers = {"state": high << 64 | low, "inc": increment_high << 64 | increment_low}
    return {"bit_generator": "PCG64", "state": numbers, "has_uint32": waits, "uinteger": half}


@compiled()
def seed_generator(generator: NDArray[np.uint64], seed: int) -> None:
    """Seed the generator as gymnasium's `np_random(seed)` does.

    Args:
        seed: from 0 to 2**63 - 1.
    """
    words = _seed_words(U64(seed))
    generator[:] = U64(0)
    generator[INCREMENT_HIGH] = (words[2] << U64(1)) | (words[3] >> U64(63))
    generator[INCREMENT_LOW] = (words[3] << U64(1)) | U64(1)
    _advance(generator)
    low = generator[STATE_LOW] + words[1]
    carry = U64(1) if low < words[1] else U64(0)
    generator[STATE_HIGH] += words[0] + carry
    generator[STATE_LOW] = low
    _advance(generator)


@compiled()
def begin_stream(generator: NDArray[np.uint64], seed: int) -> None:
    """Seed the generator as `seed_generator` does; with a negative seed leave it unchanged."""
    if seed >= 0:
        seed_generator(generator, seed)


@compiled()
def uniform(generator: NDArray[np.uint64], low: float, high: float) -> float:
    """Return a draw from [low, high), as Generator.uniform does."""
    return low + (high - low) * (float(_next_64(generator) >> U64(11)) * TO_UNIT)


@compiled()
def integers(generator: NDArray[np.uint64], high: int) -> int:
    """Return a draw from 0 … high - 1, as Generator.integers does for `high` up to 2**32,
    by Lemire's method.
    """
    if high < 1:
        raise ValueError("high <= 0")  # in numpy's words
    if high == 1:
        return 0  # without a number drawn
    if high > 1 << 32:
        raise ValueError("high > 2**32")
    count = U64(high)
    product = _next_32(generator) * count
    if product & MASK_32 < count:
        threshold = (MASK_32 + U64(1) - count) % count  # below this some results would be too frequent
        while product & MASK_32 < threshold:
            product = _next_32(generator) * count
    return int(np.int64(product >> SHIFT_32))  # signed like the 0 above, or numba would turn both into floats


@compiled()
def _seed_words(seed: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return the four words of 64 bits of SeedSequence(seed).generate_state(4, uint64)."""
    pool = np.zeros(POOL, np.uint64)
    pool[0], pool[1] = seed & MASK_32, seed >> SHIFT_32
    constant = INIT_A
    for i in range(POOL):
        pool[i], constant = _hash(pool[i], constant, MULTIPLY_A)
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                hashed, constant = _hash(pool[source], constant, MULTIPLY_A)
                mixed = (MIX_LEFT * pool[target] - MIX_RIGHT * hashed) & MASK_32
                pool[target] = mixed ^ (mixed >> SHIFT_16)
    words = np.zeros(4, np.uint64)
    constant = INIT_B
    for i in range(8):
        half, constant = _hash(pool[i % POOL], constant, MULTIPLY_B)
        words[i // 2] |= half << U64(32 * (i % 2))
    return words[0], words[1], words[2], words[3]


@compiled()
def _hash(value: np.uint64, constant: np.uint64, multiplier: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return SeedSequence's hash of a word of 32 bits, and the constant for the next one."""
    following = (constant * multiplier) & MASK_32
    hashed = ((value ^ constant) * following) & MASK_32
    return hashed ^ (hashed >> SHIFT_16), following


@compiled()
def _advance(generator: NDArray[np.uint64]) -> None:
    """Take one step of PCG64: state * multiplier + increment, modulo 2**128."""
    high, low = generator[STATE_HIGH], generator[STATE_LOW]
    new_high = _high_half(low, MULTIPLIER_LOW) + high * MULTIPLIER_LOW + low * MULTIPLIER_HIGH
    new_low = low * MULTIPLIER_LOW + generator[INCREMENT_LOW]
    carry = U64(1) if new_low < generator[INCREMENT_LOW] else U64(0)
    generator[STATE_HIGH] = new_high + generator[INCREMENT_HIGH] + carry
    generator[STATE_LOW] = new_low


@compiled()
def _high_half(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the upper 64 bits of a product."""
    a_high, a_low, b_high, b_low = a >> SHIFT_32, a & MASK_32, b >> SHIFT_32, b & MASK_32
    middle = a_high * b_low + ((a_low * b_low) >> SHIFT_32)
    other = a_low * b_high + (middle & MASK_32)
    return a_high * b_high + (middle >> SHIFT_32) + (other >> SHIFT_32)


@compiled()
def _next_64(generator: NDArray[np.uint64]) -> np.uint64:
    """Return 64 random bits: the state's halves folded and rotated by its top six bits (XSL-RR)."""
    _advance(generator)
    folded = generator[STATE_HIGH] ^ generator[STATE_LOW]
    turn = generator[STATE_HIGH] >> U64(58)
    return U64((folded >> turn) | (folded << ((U64(64) - turn) & U64(63))))


@compiled()
def _next_32(generator: NDArray[np.uint64]) -> np.uint64:
    """Return 32 random bits: the lower half of 64, then the upper half, which waits for the next call."""
    if generator[HALF_WAITS]:
        generator[HALF_WAITS] = U64(0)
        return U64(generator[HALF])
    word = _next_64(generator)
    generator[HALF_WAITS], generator[HALF] = U64(1), word >> SHIFT_32
    return word & MASK_32
