"""The different patches of a picture and their queries and keys: the attention agent's first half, compiled.

Much of a race is plain grass and road: about 290 of 529 patches differ, and only these are projected.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import WIDTH, fma, load, spread, store

PATCH, STRIDE, CHANNELS = 7, 4, 3  # arXiv:2003.08165
ROW = PATCH * CHANNELS  # bytes of a patch in one row of the picture
QUERY_DIM = WIDTH // 2  # the paper's: query and key fill eight lanes; narrower ones are padded with zeros

# Patches are compared in words of four bytes: they begin at every third word of a picture's row.
STRIDE_WORDS = STRIDE * CHANNELS // 4
WORDS = ROW // 4
# The same, unsigned: numba then need not ask whether a place counts from the end, a third of the time.
U_PATCH, U_WORDS = np.uint64(PATCH), np.uint64(WORDS)
LAST_BYTE = np.uint32(0xFF)  # of a row's sixth word only the first byte (little endian) is in the patch
# Two different odd numbers: with one, words along a diagonal of the patch would have the same weight.
ROW_FACTOR, WORD_FACTOR = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77)
EMPTY = -1
PADDING = 16  # numbers of kinds are read in groups of as many at most


class Patches(NamedTuple):
    """The `count` patches of one picture, numbered row by row."""

    start: NDArray[np.uint64]  # (count,) the word of the picture at which a patch begins
    code: NDArray[np.uint32]  # (count,) its hash
    kind: NDArray[np.int32]  # (count,) which of the different patches it is
    first: NDArray[np.int32]  # (count + PADDING,) the first patch of a kind; any patch beyond the last kind
    repeats: NDArray[np.float32]  # (count + PADDING,) how many of a kind there are; 0 beyond the last kind
    mixed: NDArray[np.uint32]  # (words of a picture's row,)
    table: NDArray[np.int32]  # (a power of two,) kinds by their hash, EMPTY where there is none
    bytes: NDArray[np.uint8]  # (size * size * 3,) the picture
    words: NDArray[np.uint32]  # (size, size * 3 / 4) the same memory
    pixels: NDArray[np.float32]  # (size * size * 3,) the same numbers


def allocate(size: int) -> Patches:
    """Return room for pictures (size, size, 3), with a size that is a multiple of four."""
    count, words = grid(size) ** 2, size * CHANNELS // 4
    row, column = np.divmod(np.arange(count), grid(size))
    picture = np.zeros(size * size * CHANNELS, np.uint8)
    return Patches(
        start=(row * STRIDE * words + column * STRIDE_WORDS).astype(np.uint64),
        code=np.zeros(count, np.uint32),
        kind=np.zeros(count, np.int32),
        first=np.zeros(count + PADDING, np.int32),
        repeats=np.zeros(count + PADDING, np.float32),
        mixed=np.zeros(words, np.uint32),
        table=np.zeros(1 << (2 * count - 1).bit_length(), np.int32),  # at most half full: short searches
        bytes=picture,
        words=picture.view(np.uint32).reshape(size, words),
        pixels=np.zeros(picture.size, np.float32),
    )


@compiled()
def grid(size: int) -> int:
    """Return how many patches fit along an axis."""
    return (size - PATCH) // STRIDE + 1


@compiled()
def find_kinds(frame: NDArray[np.uint8], patches: Patches) -> int:
    """Fill kind, first and repeats for a contiguous frame (size, size, 3); return how many kinds it has."""
    # A copy, since to view bytes as words in compiled code takes numba seconds to compile.
    _read(frame.ravel(), patches.bytes, patches.pixels)
    _hash(patches.words, patches.mixed, patches.code)
    return _group(patches.words.ravel(), patches)


@compiled()
def _read(frame: NDArray[np.uint8], picture: NDArray[np.uint8], pixels: NDArray[np.float32]) -> None:
    for i in range(len(frame)):
        picture[i] = frame[i]
    for i in range(len(frame)):
        pixels[i] = np.float32(frame[i])


@compiled()
def _hash(words: NDArray[np.uint32], mixed: NDArray[np.uint32], code: NDArray[np.uint32]) -> None:
    """Write a hash of each patch but for the last byte of its rows, which is left to the comparison."""
    across = grid(len(words))
    for row in range(across):
        mixed[:] = 0
        for y in range(PATCH):
            _mix(words[STRIDE * row + y], mixed)
        for column in range(across):
            x = STRIDE_WORDS * column
            code[row * across + column] = _weigh(mixed[x : x + WORDS])


@compiled()
def _mix(row: NDArray[np.uint32], mixed: NDArray[np.uint32]) -> None:
    for x in range(len(mixed)):
        mixed[x] = mixed[x] * ROW_FACTOR + row[x]


@compiled()
def _weigh(words: NDArray[np.uint32]) -> np.uint32:
    code = np.uint32(0)
    for x in range(WORDS):
        code = np.uint32(code * WORD_FACTOR + words[x])
    return code


@compiled()
def _group(words: NDArray[np.uint32], patches: Patches) -> int:
    """Give each patch its kind by a hash table with open addressing; return how many kinds there are."""
    # Read once: numba counts references at each reading of a field.
    start, code, kind, first = patches.start, patches.code, patches.kind, patches.first
    table, repeats, width = patches.table, patches.repeats, np.uint64(len(patches.mixed))
    table[:] = EMPTY
    repeats[:] = 0
    kinds, mask = 0, len(table) - 1
    for patch in range(len(kind)):
        # The upper bits of a product depend on all bits of its factors.
        place = (code[patch] >> np.uint32(16)) & mask
        while table[place] != EMPTY:
            other = first[table[place]]
            if code[other] == code[patch] and _equal(words, width, start[patch], start[other]):
                break
            place = (place + 1) & mask
        if table[place] == EMPTY:
            table[place] = kinds
            first[kinds] = patch
            kinds += 1
        kind[patch] = table[place]
        repeats[table[place]] += np.float32(1)
    return kinds


@compiled()
def _equal(words: NDArray[np.uint32], width: np.uint64, here: np.uint64, there: np.uint64) -> bool:
    """Return whether the patches that begin at two words are equal, byte for byte."""
    difference = np.uint32(0)
    for _ in range(PATCH):
        for x in range(U_WORDS):
            difference |= words[here + x] ^ words[there + x]
        difference |= (words[here + U_WORDS] ^ words[there + U_WORDS]) & LAST_BYTE
        here += width
        there += width
    return bool(difference == 0)


@compiled()
def project(
    kinds: int,
    patches: Patches,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    projected: NDArray[np.float32],
) -> None:
    """Write the query and key of each kind, and of a few beyond the last.

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
    at_a, at_b = _pixel(start, first, kind), _pixel(start, first, kind + 1)
    at_c, at_d = _pixel(start, first, kind + 2), _pixel(start, first, kind + 3)
    at_e, at_f = _pixel(start, first, kind + 4), _pixel(start, first, kind + 5)
    at_g, at_h = _pixel(start, first, kind + 6), _pixel(start, first, kind + 7)
    stride = len(patches.mixed) * 4
    a = b = c = d = e = f = g = h = load(bias, 0)
    for y in range(PATCH):
        for i in range(ROW):
            weight, x = load(weights, WIDTH * (y * ROW + i)), y * stride + i
            a = fma(spread(pixels, at_a + x), weight, a)
            b = fma(spread(pixels, at_b + x), weight, b)
            c = fma(spread(pixels, at_c + x), weight, c)
            d = fma(spread(pixels, at_d + x), weight, d)
            e = fma(spread(pixels, at_e + x), weight, e)
            f = fma(spread(pixels, at_f + x), weight, f)
            g = fma(spread(pixels, at_g + x), weight, g)
            h = fma(spread(pixels, at_h + x), weight, h)
    for i, sums in enumerate((a, b, c, d, e, f, g, h)):
        store(projected, WIDTH * (kind + i), sums)


@compiled()
def _pixel(start: NDArray[np.uint64], first: NDArray[np.int32], kind: int) -> np.int64:
    """Return the place in the picture's numbers at which a kind's first patch begins."""
    return np.int64(start[first[kind]]) * 4
