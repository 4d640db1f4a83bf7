"""The different patches of a picture and their queries and keys: the attention agent's first half, compiled.

Much of a race is plain grass and road: of 529 patches some 290 differ, and only these are projected.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit import compiled
from mpi_es.lanes import fma, load, splat, store

PATCH, STRIDE, CHANNELS = 7, 4, 3  # arXiv:2003.08165
QUERY_DIM = 4  # the paper's; narrower ones are padded with zeros, so that query and key fill eight lanes
LANES = 2 * QUERY_DIM

WIDTH = PATCH * CHANNELS  # bytes of a patch in one row of the picture
# Patches begin at multiples of STRIDE * CHANNELS = 12 bytes, so they are compared in words of four.
STRIDE_WORDS, WHOLE_WORDS = STRIDE * CHANNELS // 4, WIDTH // 4
LAST_BYTE = np.uint32(0xFF)  # of the sixth word only the first byte belongs to a patch (little endian)

EMPTY = -1
# Two different odd numbers: with one, a word's weight would be the same along a diagonal of the patch.
ROW_FACTOR, WORD_FACTOR = np.uint32(0x9E3779B1), np.uint32(0x85EBCA77)


class Patches(NamedTuple):
    """Where the patches of one picture are noted; `count` patches, numbered row by row."""

    kind: NDArray[np.int32]  # (count,) which of the different patches each one is
    first: NDArray[np.int32]  # (count, 2) row and column in the grid of the first of a kind
    repeats: NDArray[np.float32]  # (padded count,) how many of a kind there are; 0 beyond the kinds
    hashes: NDArray[np.uint32]  # (count,) of each kind
    table: NDArray[np.int32]  # (a power of two,) kinds by their hash, EMPTY where there is none
    mixed: NDArray[np.uint32]  # (words of a picture's row,)
    pixels: NDArray[np.float32]  # (size * size * 3,)


def allocate(size: int) -> Patches:
    """Return room for pictures (size, size, 3)."""
    count = grid(size) ** 2
    return Patches(
        kind=np.zeros(count, np.int32),
        first=np.zeros((count, 2), np.int32),
        repeats=np.zeros(count + LANES, np.float32),
        hashes=np.zeros(count, np.uint32),
        table=np.zeros(1 << (2 * count - 1).bit_length(), np.int32),  # at most half full: short searches
        mixed=np.zeros(size * CHANNELS // 4, np.uint32),
        pixels=np.zeros(size * size * CHANNELS, np.float32),
    )


@compiled()
def grid(size: int) -> int:
    """Return how many patches fit along an axis."""
    return (size - PATCH) // STRIDE + 1


@compiled()
def find_kinds(frame: NDArray[np.uint8], patches: Patches) -> int:
    """Fill kind, first and repeats; return how many kinds there are.

    Args:
        frame: (size, size, 3), contiguous, with a size that is a multiple of four.
    """
    size = frame.shape[0]
    words = frame.reshape(size, size * CHANNELS).view(np.uint32)
    patches.table[:] = EMPTY
    patches.repeats[:] = 0
    kinds = 0
    for row in range(grid(size)):
        _mix_rows(words, row, patches.mixed)
        for column in range(grid(size)):
            kind = _find(words, row, column, kinds, patches)
            kinds = max(kinds, kind + 1)
            patches.kind[row * grid(size) + column] = kind
            patches.repeats[kind] += np.float32(1)
    return kinds


@compiled()
def _mix_rows(words: NDArray[np.uint32], row: int, mixed: NDArray[np.uint32]) -> None:
    """Sum up the picture's rows of a row of patches, each with a weight of its own."""
    mixed[:] = 0
    for y in range(STRIDE * row, STRIDE * row + PATCH):
        for x in range(len(mixed)):
            mixed[x] = mixed[x] * ROW_FACTOR + words[y, x]


@compiled()
def _find(words: NDArray[np.uint32], row: int, column: int, kinds: int, patches: Patches) -> int:
    """Return the kind of a patch, which is `kinds`, and is noted, where there was none like it."""
    mixed, start = patches.mixed, STRIDE_WORDS * column
    code = np.uint32(0)  # the last byte of each row is left to the comparison
    for x in range(start, start + WHOLE_WORDS):
        code = np.uint32(code * WORD_FACTOR + mixed[x])
    mask = len(patches.table) - 1
    place = (code >> 16) & mask  # the upper bits of a product depend on all bits of its factors
    while patches.table[place] != EMPTY:
        kind = patches.table[place]
        if patches.hashes[kind] == code and _equal(words, row, column, patches.first[kind]):
            return kind
        place = (place + 1) & mask
    patches.table[place] = kinds
    patches.hashes[kinds] = code
    patches.first[kinds, 0], patches.first[kinds, 1] = row, column
    return kinds


@compiled()
def _equal(words: NDArray[np.uint32], row: int, column: int, other: NDArray[np.int32]) -> bool:
    """Tell whether the patch at (row, column) of the grid equals another one, byte for byte."""
    difference = np.uint32(0)
    x, other_x = STRIDE_WORDS * column, STRIDE_WORDS * other[1]
    for i in range(PATCH):
        here, there = words[STRIDE * row + i], words[STRIDE * other[0] + i]
        for word in range(WHOLE_WORDS):
            difference |= here[x + word] ^ there[other_x + word]
        difference |= (here[x + WHOLE_WORDS] ^ there[other_x + WHOLE_WORDS]) & LAST_BYTE
    return difference == 0


@compiled()
def project(
    frame: NDArray[np.uint8],
    kinds: int,
    patches: Patches,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    projected: NDArray[np.float32],
) -> None:
    """Write the query and key of each kind.

    Args:
        weights: (PATCH * WIDTH * LANES,), a pixel's weights side by side.
        bias: (LANES,).
        projected: (at least kinds + 3, LANES), flat.
    """
    flat = frame.reshape(frame.size)
    for i in range(len(flat)):
        patches.pixels[i] = flat[i]
    stride = frame.shape[1] * CHANNELS
    for kind in range(0, kinds, 4):
        _project_four(kind, kinds, stride, patches, weights, bias, projected)


@compiled()
def _project_four(
    kind: int,
    kinds: int,
    stride: int,
    patches: Patches,
    weights: NDArray[np.float32],
    bias: NDArray[np.float32],
    projected: NDArray[np.float32],
) -> None:
    """Project four kinds at once, so that four chains of sums run side by side; the last one may repeat."""
    pixels, last = patches.pixels, kinds - 1
    at_a = _offset(patches, kind, stride)
    at_b = _offset(patches, min(kind + 1, last), stride)
    at_c = _offset(patches, min(kind + 2, last), stride)
    at_d = _offset(patches, min(kind + 3, last), stride)
    a = b = c = d = load(bias, 0)
    for y in range(PATCH):
        for x in range(y * stride, y * stride + WIDTH):
            weight = load(weights, LANES * (y * WIDTH + x - y * stride))
            a = fma(splat(pixels[at_a + x]), weight, a)
            b = fma(splat(pixels[at_b + x]), weight, b)
            c = fma(splat(pixels[at_c + x]), weight, c)
            d = fma(splat(pixels[at_d + x]), weight, d)
    store(projected, LANES * kind, a)
    store(projected, LANES * kind + LANES, b)
    store(projected, LANES * kind + 2 * LANES, c)
    store(projected, LANES * kind + 3 * LANES, d)


@compiled()
def _offset(patches: Patches, kind: int, stride: int) -> int:
    """Return where a kind's first patch begins in the picture."""
    first = patches.first[kind]
    return first[0] * STRIDE * stride + first[1] * STRIDE * CHANNELS
