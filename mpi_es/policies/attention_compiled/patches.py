"""The different patches of a picture and their queries and keys: the attention agent's first half, compiled.

Much of a race is plain grass and road: about 290 of 529 patches differ, and only these are projected.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.bits import read_uint32, read_uint64
from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import WIDTH, fmuladd, load, spread, store

PATCH, STRIDE, CHANNELS = 7, 4, 3  # arXiv:2003.08165
ROW = PATCH * CHANNELS  # bytes of a patch in one row of the picture
QUERY_DIM = WIDTH // 2  # the paper's: query and key fill eight lanes; narrower ones are padded with zeros

# Patches begin at every third word of four bytes of a picture's row. Of a patch's row, the hash reads the
# five whole words and leaves the last byte to the comparison.
STRIDE_WORDS = STRIDE * CHANNELS // 4
WORDS = ROW // 4
# Two different odd numbers: with one, words along a diagonal of the patch would have the same weight.
ROW_FACTOR, WORD_FACTOR = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77)
EMPTY = -1
PADDING = 16  # kinds are read in groups of at most this many


Picture = NDArray[np.uint8]  # (size * size * 3,)


class Patches(NamedTuple):
    """The `count` patches of one picture, numbered row by row."""

    start: NDArray[np.int64]  # (count,) the byte of the picture at which a patch begins
    code: NDArray[np.uint32]  # (count,) its hash
    kind: NDArray[np.int32]  # (count,) the index of its kind: equal patches are of one kind
    first: NDArray[np.int32]  # (count + PADDING,) the first patch of a kind; any patch beyond the last kind
    repeats: NDArray[np.float32]  # (count + PADDING,) how many of a kind there are; 0 beyond the last kind
    mixed: NDArray[np.uint32]  # (words of a picture's row,) seven rows hashed into one
    codes: NDArray[np.uint32]  # (words of a picture's row,) hashes of patches that begin at each word
    table: NDArray[np.int32]  # (a power of two,) kinds by their hash, else EMPTY
    pixels: NDArray[np.float32]  # (size * size * 3,) the picture


def allocate(size: int) -> Patches:
    """Return room for pictures (size, size, 3), with a size that is a multiple of four."""
    count, words = grid(size) ** 2, size * CHANNELS // 4
    row, column = np.divmod(np.arange(count), grid(size))
    return Patches(
        start=STRIDE * CHANNELS * (row * size + column),
        code=np.zeros(count, np.uint32),
        kind=np.zeros(count, np.int32),
        first=np.zeros(count + PADDING, np.int32),
        repeats=np.zeros(count + PADDING, np.float32),
        mixed=np.zeros(words, np.uint32),
        codes=np.zeros(words, np.uint32),
        table=np.zeros(1 << (2 * count - 1).bit_length(), np.int32),  # at most half full: short searches
        pixels=np.zeros(size * size * CHANNELS, np.float32),
    )


@compiled()
def grid(size: int) -> int:
    """Return how many patches fit along an axis."""
    return (size - PATCH) // STRIDE + 1


@compiled()
def find_kinds(frame: NDArray[np.uint8], patches: Patches) -> int:
    """Fill kind, first and repeats for a contiguous frame (size, size, 3); return how many kinds it has."""
    picture = frame.ravel()
    _read(picture, patches.pixels)
    _hash(picture, patches.mixed, patches.codes, patches.code)
    return _group(picture, patches)


@compiled(borrowing=True)
def _read(picture: Picture, pixels: NDArray[np.float32]) -> None:
    for i in range(len(picture)):
        pixels[i] = np.float32(picture[i])


@compiled(borrowing=True)
def _hash(
    picture: Picture, mixed: NDArray[np.uint32], codes: NDArray[np.uint32], code: NDArray[np.uint32]
) -> None:
    """Write a hash of each patch, without the last byte of its rows, which is left to the comparison."""
    across = grid(STRIDE * len(mixed) // CHANNELS)
    for row in range(across):
        _mix(picture, row * STRIDE * 4 * len(mixed), mixed)
        for x in range(len(mixed) - WORDS + 1):
            hashed = np.uint32(0)
            for i in range(WORDS):
                hashed = np.uint32(hashed * WORD_FACTOR + mixed[x + i])
            codes[x] = hashed
        for column in range(across):
            code[row * across + column] = codes[STRIDE_WORDS * column]


@compiled(borrowing=True)
def _mix(picture: Picture, top: int, mixed: NDArray[np.uint32]) -> None:
    """Write a hash of each column of words in the seven rows of the picture from the byte `top` on."""
    stride = 4 * len(mixed)
    for x in range(len(mixed)):
        column = np.uint32(0)
        for y in range(PATCH):
            column = np.uint32(column * ROW_FACTOR + read_uint32(picture, top + y * stride + 4 * x))
        mixed[x] = column


@compiled()
def _group(picture: Picture, patches: Patches) -> int:
    """Give each patch its kind by a hash table with open addressing; return how many kinds there are."""
    # Read once: numba counts references at each reading of a field.
    start, code, kind, first = patches.start, patches.code, patches.kind, patches.first
    table, repeats, stride = patches.table, patches.repeats, 4 * len(patches.mixed)
    table[:] = EMPTY
    repeats[:] = 0
    kinds, mask = 0, len(table) - 1
    for patch in range(len(kind)):
        # The upper bits of a product depend on all bits of its factors.
        place = (code[patch] >> np.uint32(16)) & mask
        # Whether a kind is new would be hard to predict as a branch; the code below has none.
        while table[place] != EMPTY:
            other = first[table[place]]
            if code[other] == code[patch] and _equal(picture, stride, start[patch], start[other]):
                break
            place = (place + 1) & mask
        is_new = table[place] == EMPTY
        found = kinds if is_new else table[place]
        first[kinds] = patch
        kinds += is_new
        table[place] = kind[patch] = found
        repeats[found] += np.float32(1)
    return kinds


@compiled(borrowing=True)
def _equal(picture: Picture, stride: int, here: int, there: int) -> bool:
    """Return whether the patches that begin at two bytes are equal."""
    difference = np.uint64(0)
    for _ in range(PATCH):
        # A row's 21 bytes in words of eight; the last one overlaps the second.
        for place in (0, 8, ROW - 8):
            difference |= read_uint64(picture, here + place) ^ read_uint64(picture, there + place)
        here += stride
        there += stride
    return bool(difference == 0)


@compiled()
def project(
    kinds: int,
    patches: Patches,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    projected: NDArray[np.float32],
) -> None:
    """Write the query and key of each kind, and of a few beyond the last one.

    Args:
        weights: (PATCH * ROW * 8,), a pixel's weights side by side.
        bias: (8,).
        projected: ((count + PADDING) * 8,).
    """
    for kind in range(0, kinds, WIDTH):
        _project_eight(kind, patches, weights, bias, projected)


@compiled()
def _project_eight(
    kind: int,
    patches: Patches,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    projected: NDArray[np.float32],
) -> None:
    """Project eight kinds at once: eight chains of sums keep the processor's multipliers busy."""
    pixels, start, first = patches.pixels, patches.start, patches.first
    at_a, at_b = start[first[kind]], start[first[kind + 1]]
    at_c, at_d = start[first[kind + 2]], start[first[kind + 3]]
    at_e, at_f = start[first[kind + 4]], start[first[kind + 5]]
    at_g, at_h = start[first[kind + 6]], start[first[kind + 7]]
    stride = len(patches.mixed) * 4
    a = b = c = d = e = f = g = h = load(bias, 0)
    for y in range(PATCH):
        for i in range(ROW):
            weight, x = load(weights, WIDTH * (y * ROW + i)), y * stride + i
            a = fmuladd(spread(pixels, at_a + x), weight, a)
            b = fmuladd(spread(pixels, at_b + x), weight, b)
            c = fmuladd(spread(pixels, at_c + x), weight, c)
            d = fmuladd(spread(pixels, at_d + x), weight, d)
            e = fmuladd(spread(pixels, at_e + x), weight, e)
            f = fmuladd(spread(pixels, at_f + x), weight, f)
            g = fmuladd(spread(pixels, at_g + x), weight, g)
            h = fmuladd(spread(pixels, at_h + x), weight, h)
    for i, sums in enumerate((a, b, c, d, e, f, g, h)):
        store(projected, WIDTH * (kind + i), sums)
