"""How important each patch is, by a softmax over all pairs of patches: compiled.

Most of a step's time is spent here: 292 different patches make 85,000 pairs. Eight queries, in eight lanes,
go through all keys together, so that nothing is summed across lanes before the end.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import WIDTH, fma, lane, load, maximum, nearest, splat, spread, store, times_power_of_two
from mpi_es.policies.attention_compiled.patches import QUERY_DIM

Lanes = Any  # eight float32


class SoftmaxScratch(NamedTuple):
    """Scratch for one picture; the arrays are padded so that eight lanes may begin at any kind."""

    projected: NDArray[np.float32]  # (padded * WIDTH,) a kind's query, then its key
    queries: NDArray[np.float32]  # (QUERY_DIM, padded)
    keys: NDArray[np.float32]  # (padded * QUERY_DIM,)
    exponentials: NDArray[np.float32]  # (padded * 8,) of eight queries with each key
    sums: NDArray[np.float32]  # (padded * 8,) for each key and lane
    importance: NDArray[np.float32]  # (padded,) of each kind


def allocate(count: int) -> SoftmaxScratch:
    """Return room for `count` patches."""
    padded = count + WIDTH
    return SoftmaxScratch(
        projected=np.zeros(padded * WIDTH, np.float32),
        queries=np.zeros((QUERY_DIM, padded), np.float32),
        keys=np.zeros(padded * QUERY_DIM, np.float32),
        exponentials=np.zeros(padded * WIDTH, np.float32),
        sums=np.zeros(padded * WIDTH, np.float32),
        importance=np.zeros(padded, np.float32),
    )


@compiled()
def sum_columns(kinds: int, repeats: NDArray[np.float32], attention: SoftmaxScratch) -> None:
    """Write the importance of each kind of patch: its column's sum in the softmax over keys.

    A kind that occurs c times stands for c equal rows and columns: it counts c times in the divisor of each
    row, and its own row c times in the sum. The scores are in powers of two, see `exp2`.

    Args:
        repeats: (kinds + 8,) how often each kind occurs; 0 from kinds on.
    """
    _split(kinds, attention)
    sums = attention.sums
    sums[:] = 0
    for first in range(0, kinds, WIDTH):
        _add_rows(first, kinds, repeats, attention)
    for key in range(kinds):
        attention.importance[key] = _total(load(sums, WIDTH * key))


@compiled()
def _split(kinds: int, attention: SoftmaxScratch) -> None:
    """Lay queries and keys out as they are read: queries lane by lane, a key's numbers together."""
    for kind in range(kinds):
        for i in range(QUERY_DIM):
            attention.queries[i, kind] = attention.projected[WIDTH * kind + i]
            attention.keys[QUERY_DIM * kind + i] = attention.projected[WIDTH * kind + QUERY_DIM + i]


@compiled()
def _add_rows(first: int, kinds: int, repeats: NDArray[np.float32], attention: SoftmaxScratch) -> None:
    """Add what eight queries, from `first` on, give to each key. Beyond the last kind they count for 0."""
    exponentials, sums = attention.exponentials, attention.sums
    highest = _scores(first, kinds, attention)
    # Three loops instead of one: short chains of dependent instructions, which the processor overlaps.
    divisor = splat(np.float32(0))
    for key in range(kinds):
        value = exp2(load(exponentials, WIDTH * key) - highest)
        store(exponentials, WIDTH * key, value)
        divisor = fma(value, spread(repeats, key), divisor)
    share = load(repeats, first) / divisor
    for key in range(kinds):
        value = load(exponentials, WIDTH * key)
        store(sums, WIDTH * key, fma(value, share, load(sums, WIDTH * key)))


@compiled()
def _scores(first: int, kinds: int, attention: SoftmaxScratch) -> Lanes:
    """Write eight queries' scores with each key; return each query's highest."""
    keys, queries = attention.keys, attention.queries
    q0, q1 = load(queries[0], first), load(queries[1], first)
    q2, q3 = load(queries[2], first), load(queries[3], first)
    highest = splat(np.float32(-np.inf))
    for key in range(kinds):
        score = q0 * spread(keys, QUERY_DIM * key)
        score = fma(q1, spread(keys, QUERY_DIM * key + 1), score)
        score = fma(q2, spread(keys, QUERY_DIM * key + 2), score)
        score = fma(q3, spread(keys, QUERY_DIM * key + 3), score)
        store(attention.exponentials, WIDTH * key, score)
        highest = maximum(score, highest)
    return highest


# The polynomial of degree 5 nearest to 2**x on [-1/2, 1/2]: its largest relative error, 7.5e-8, is about that
# of rounding to float32. Fitted by reweighted least squares, to equal relative errors.
C0, C1, C2, C3, C4, C5 = (
    np.float32(c) for c in (1.00000007, 0.69314697, 0.2402212, 0.05550713, 0.00967554, 0.00132765)
)
# Below it 2**x is no normal number; added to the 1 of the highest score it changes nothing
LOWEST = np.float32(-126)


@compiled()
def exp2(x: Lanes) -> Lanes:
    """Return 2**x for x below 127; what is no number counts as very low."""
    x = maximum(x, splat(LOWEST))
    whole = nearest(x)
    rest = x - whole
    square = rest * rest  # Estrin's scheme: a shorter chain than Horner's
    high = fma(splat(C5), rest, splat(C4))
    middle = fma(splat(C3), rest, splat(C2))
    low = fma(splat(C1), rest, splat(C0))
    return times_power_of_two(fma(fma(high, square, middle), square, low), whole)


@compiled()
def _total(x: Lanes) -> Any:
    """Return the sum of the lanes, in pairs."""
    left = (lane(x, 0) + lane(x, 4)) + (lane(x, 2) + lane(x, 6))
    right = (lane(x, 1) + lane(x, 5)) + (lane(x, 3) + lane(x, 7))
    return left + right
