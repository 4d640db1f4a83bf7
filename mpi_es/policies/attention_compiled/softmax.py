"""How important each patch is, by a softmax over all pairs of patches: compiled.

Most of a step's time is spent here: 292 different patches make 85,000 pairs. The queries of a vector, 8 or
16, go through all keys together, so that sums across lanes come only at the end. Both widths give
bit-identical results.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import (
    AVX512,
    WIDE,
    WIDTH,
    fmuladd,
    load,
    load_wide,
    maximum,
    shift_into_exponent,
    splat,
    splat_wide,
    spread_wide,
    store,
    total,
)
from mpi_es.policies.attention_compiled.patches import PADDING, QUERY_DIM

Array = NDArray[np.float32]
Lanes = Any  # WIDE float32

# If no score exceeds this in magnitude, rows need no maximum: 2**score, a sum of these and its inverse are
# normal numbers. The bound of the published weights' scores is 18.
BOUND = np.float32(100)
SUMS = 16  # for each key, whatever the vectors' width: it fixes the order of additions


class SoftmaxScratch(NamedTuple):
    """Scratch for one picture; the arrays are padded so that a vector may begin at any kind."""

    projected: Array  # (padded * WIDTH,) a kind's query, then its key
    queries: Array  # (QUERY_DIM * padded,)
    keys: Array  # (padded * QUERY_DIM,)
    exponentials: Array  # (padded * WIDE,) for a vector of queries with each key
    sums: Array  # (padded * SUMS,) for each key, over queries 0, SUMS …, then over 1, SUMS + 1 …
    squares: Array  # (WIDTH,) the largest square of each component of queries and keys
    importance: Array  # (padded,) of each kind


def allocate(count: int) -> SoftmaxScratch:
    """Return room for `count` patches."""
    padded = count + PADDING
    return SoftmaxScratch(
        projected=np.zeros(padded * WIDTH, np.float32),
        queries=np.zeros(QUERY_DIM * padded, np.float32),
        keys=np.zeros(padded * QUERY_DIM, np.float32),
        exponentials=np.zeros(padded * WIDE, np.float32),
        sums=np.zeros((SUMS // WIDE, padded * WIDE), np.float32),
        squares=np.zeros(WIDTH, np.float32),
        importance=np.zeros(padded, np.float32),
    )


@compiled()
def sum_columns(kinds: int, repeats: Array, attention: SoftmaxScratch) -> None:
    """Write the importance of each kind of patch: its column's sum in the softmax over keys.

    A kind that occurs c times stands for c equal rows and columns: it counts c times in the divisor of each
    row, and its own row c times in the sum. The scores are in powers of two, see `exp2`.

    Args:
        repeats: (kinds + PADDING,) how often each kind occurs; 0 from kinds on.
    """
    _split(kinds, attention)
    bounded = _largest_score(kinds, attention) <= BOUND
    # Read once: numba counts references at each reading of a field.
    queries, keys, exponentials = attention.queries, attention.keys, attention.exponentials
    sums = attention.sums
    sums[:] = 0
    for query in range(0, kinds, WIDE):
        if AVX512 and bounded:
            divisor = _exponentiate_scores(query, kinds, repeats, queries, keys, exponentials)
        else:
            _write_scores(query, kinds, queries, keys, exponentials)
            if not bounded:
                _subtract_highest(kinds, exponentials)
            divisor = _exponentiate(kinds, repeats, exponentials)
        share = load_wide(repeats, query) / divisor  # 0 beyond the last kind
        _add(kinds, share, exponentials, sums[query % SUMS // WIDE])
    for key in range(kinds):
        first, second = load(sums[0], WIDE * key), load(sums[-1], WIDE * key + WIDE - WIDTH)
        attention.importance[key] = total(first + second)


@compiled()
def _split(kinds: int, attention: SoftmaxScratch) -> None:
    """Lay out queries and keys as they are read: queries lane by lane, each key's components together."""
    stride = len(attention.queries) // QUERY_DIM
    for kind in range(kinds):
        for i in range(QUERY_DIM):
            attention.queries[i * stride + kind] = attention.projected[WIDTH * kind + i]
            attention.keys[QUERY_DIM * kind + i] = attention.projected[WIDTH * kind + QUERY_DIM + i]
    for kind in range(kinds, kinds + PADDING):  # an earlier picture may have left infinities
        for i in range(QUERY_DIM):
            attention.queries[i * stride + kind] = np.float32(0)


@compiled()
def _largest_score(kinds: int, attention: SoftmaxScratch) -> Any:
    """Return a bound on the magnitude of scores.

    By Cauchy-Schwarz |q.k| <= |q| |k|, and |q|² is at most the sum of the largest squares of each component.
    """
    squares = attention.squares
    largest = splat(np.float32(0))
    for kind in range(kinds):
        numbers = load(attention.projected, WIDTH * kind)
        largest = maximum(numbers * numbers, largest)
    store(squares, 0, largest)
    query, key = np.float32(0), np.float32(0)
    for i in range(QUERY_DIM):
        query += squares[i]
        key += squares[QUERY_DIM + i]
    return np.sqrt(query) * np.sqrt(key)


@compiled(borrowing=True)
def _exponentiate_scores(
    query: int, kinds: int, repeats: Array, queries: Array, keys: Array, exponentials: Array
) -> Lanes:
    """Do the work of the next two functions in one loop,
    which needs more than 16 registers and fits in 32.
    """
    q0, q1, q2, q3 = _queries(queries, query)
    divisor = splat_wide(np.float32(0))
    for key in range(kinds):
        value = exp2(_score(q0, q1, q2, q3, keys, QUERY_DIM * key))
        store(exponentials, WIDE * key, value)
        divisor = fmuladd(value, spread_wide(repeats, key), divisor)
    return divisor


@compiled(borrowing=True)
def _write_scores(query: int, kinds: int, queries: Array, keys: Array, scores: Array) -> None:
    """Write the scores of queries from `query` on with each key."""
    q0, q1, q2, q3 = _queries(queries, query)
    for key in range(kinds):
        store(scores, WIDE * key, _score(q0, q1, q2, q3, keys, QUERY_DIM * key))


@compiled(borrowing=True)
def _exponentiate(kinds: int, repeats: Array, scores: Array) -> Lanes:
    """Replace scores with their powers of two; return the divisor of each query."""
    divisor = splat_wide(np.float32(0))
    for key in range(kinds):
        value = exp2(load_wide(scores, WIDE * key))
        store(scores, WIDE * key, value)
        divisor = fmuladd(value, spread_wide(repeats, key), divisor)
    return divisor


@compiled(borrowing=True)
def _subtract_highest(kinds: int, scores: Array) -> None:
    """Subtract each query's highest score, so that no power overflows;
    raise lower scores than LOWEST to it.
    """
    highest = splat_wide(np.float32(-np.inf))
    for key in range(kinds):
        highest = maximum(load_wide(scores, WIDE * key), highest)
    for key in range(kinds):
        # NaN counts as very low.
        score = maximum(load_wide(scores, WIDE * key) - highest, splat_wide(LOWEST))
        store(scores, WIDE * key, score)


@compiled(borrowing=True)
def _queries(queries: Array, query: int) -> tuple[Lanes, Lanes, Lanes, Lanes]:
    """Return the four components of the queries from `query` on."""
    stride = len(queries) // QUERY_DIM
    return (
        load_wide(queries, query),
        load_wide(queries, query + stride),
        load_wide(queries, query + 2 * stride),
        load_wide(queries, query + 3 * stride),
    )


@compiled(borrowing=True)
def _score(q0: Lanes, q1: Lanes, q2: Lanes, q3: Lanes, keys: Array, place: int) -> Lanes:
    """Return the dot products of queries with the key at `place`."""
    score = q0 * spread_wide(keys, place)
    score = fmuladd(q1, spread_wide(keys, place + 1), score)
    score = fmuladd(q2, spread_wide(keys, place + 2), score)
    return fmuladd(q3, spread_wide(keys, place + 3), score)


@compiled(borrowing=True)
def _add(kinds: int, share: Lanes, exponentials: Array, sums: Array) -> None:
    """Add the powers of a vector of queries, times their shares, to each key's sums."""
    for key in range(kinds):
        place = WIDE * key
        store(sums, place, fmuladd(load_wide(exponentials, place), share, load_wide(sums, place)))


# The polynomial of degree 5 nearest to 2**x on [-1/2, 1/2]: its largest relative error, 7.5e-8, is about that
# of rounding to float32. Fitted by reweighted least squares, to equal relative errors.
C0, C1, C2, C3, C4, C5 = (
    np.float32(c) for c in (1.00000007, 0.69314697, 0.2402212, 0.05550713, 0.00967554, 0.00132765)
)
# Added to a number below 2**22 in magnitude, this leaves no bits for a fraction: the lowest bits then hold
# the nearest integer.
NO_FRACTION = np.float32(1.5 * 2**23)
# Below this 2**x is not a normal number; such a power changes nothing when added to the highest score's 1.
LOWEST = np.float32(-126)


@compiled(borrowing=True)
def exp2(x: Lanes) -> Lanes:
    """Return 2**x for x from -126 to below 127."""
    whole = x + splat_wide(NO_FRACTION)
    rest = x - (whole - splat_wide(NO_FRACTION))
    square = rest * rest  # Estrin's scheme: a shorter chain than Horner's
    high = fmuladd(splat_wide(C5), rest, splat_wide(C4))
    middle = fmuladd(splat_wide(C3), rest, splat_wide(C2))
    low = fmuladd(splat_wide(C1), rest, splat_wide(C0))
    return shift_into_exponent(fmuladd(fmuladd(high, square, middle), square, low), whole)
