"""Shrink the window to the picture as pygame.transform.smoothscale does with SSE2: in x, then in y.

A pixel of the picture is a mean over a cell of the window, in fixed point with 14 bits of fraction, truncated
after each direction. The pixel in which two cells meet is shared between them. The arithmetic is that of
`smoothscale.shrink_cell`, for runs of equal pixels and for red, green and blue in one number: a band has
thousands of pixels, but few runs.
"""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.exact.band import next_change
from mpi_es.worlds.car_racing.picture.exact.canvas import EACH, GREEN, RED, STRIDE, Band
from mpi_es.worlds.car_racing.picture.sizes import SIDE, WINDOW_H, WINDOW_W
from mpi_es.worlds.car_racing.picture.smoothscale import (
    ONE,
    X_RECIPROCAL,
    Y_RECIPROCAL,
    X,
    Y,
)

SUM = (1 << GREEN) - 1  # the bits of a sum of one of red, green and blue
OUTER = 255 << RED | 255  # red and blue

# Where a cell begins and ends along x and y, and its weights of the two pixels there, which it shares. The
# weights are even; half of one keeps the product with a whole colour within its bits.
X_LAST, X_LAST_WEIGHT = X.end, X.trail // 2
X_FIRST, X_FIRST_WEIGHT = np.append(-1, X_LAST[:-1]), np.append(0, ONE // 2 - X_LAST_WEIGHT[:-1])
Y_LAST, Y_LAST_WEIGHT = Y.end, Y.trail
Y_FIRST_WEIGHT = np.append(0, ONE - Y_LAST_WEIGHT[:-1])

# The cell that has both a pixel and its left neighbour
CELL = np.searchsorted(X_LAST, np.arange(WINDOW_W)).astype(np.uint8)


@compiled()
def rows_of(i: int) -> tuple[int, int]:
    """Return the first and last of the window's rows, not yet flipped, that make the picture's row i.

    It also has a share of the row after them, the first of row i - 1.
    """
    return WINDOW_H - 1 - Y_LAST[i], WINDOW_H - (Y_LAST[i - 1] + 1 if i > 0 else 0) - 1


@compiled(borrowing=True)
def shrink(band: Band, i: int, rows: int, picture: np.ndarray) -> None:
    """Shrink a band to the picture's row i, which is the one after the last band's."""
    for cell in range(SIDE):
        band.means[rows, cell] = band.means[0, cell]
    for row in range(rows):
        _shrink_row(band.changes, band.colours, band.means, row)
    _shrink_columns(band.means, band.sums, i, rows, picture)


@compiled(borrowing=True)
def _shrink_row(changes: np.ndarray, colours: np.ndarray, means: np.ndarray, row: int) -> None:
    """Set the means of a row's cells."""
    start = row * STRIDE  # x counts from 0
    first = np.uintp(start >> 6)
    word, later, place = next_change(changes, first, changes[first] & ~1)  # column 0 always has a bit
    x, cell, colour = place - start, 0, int(colours[start])
    while x < WINDOW_W:
        mixed = np.uintp(CELL[np.uintp(x)])
        _set_plain(means, row, cell, int(mixed), colour)
        begin, last = X_FIRST[mixed] + 1, X_LAST[mixed]
        total = _share(colour, X_FIRST_WEIGHT[mixed])
        while x <= last:
            total += colour * (x - begin)
            begin, colour = x, int(colours[np.uintp(place)])
            word, later, place = next_change(changes, word, later & later - 1)
            x = place - start
        total += colour * (last - begin) + _share(colour, X_LAST_WEIGHT[mixed])
        means[np.uintp(row), mixed] = _mean(total)
        cell = int(mixed) + 1
    _set_plain(means, row, cell, SIDE, colour)


@compiled(inline=True)
def _set_plain(means: np.ndarray, row: int, begin: int, end: int, colour: int) -> None:
    """Set the means of cells of one colour, four at once; up to three after them are overwritten later."""
    mean = _one_less(colour)
    for cell in range(begin, end, 4):
        for i in range(4):
            means[np.uintp(row), np.uintp(cell + i)] = mean


@compiled()
def _one_less(colour: int) -> int:
    """Return the mean over equal pixels: truncation subtracts 1, unless the colour is 0."""
    return colour - (colour + 255 * EACH >> 8 & EACH)


@compiled()
def _share(colour: int, half_weight: int) -> int:
    return colour * half_weight >> 13 & 255 * EACH


@compiled()
def _mean(total: int) -> int:
    red, green, blue = total >> RED, total >> GREEN & SUM, total & SUM
    return (
        (red * X_RECIPROCAL >> 16) << RED | (green * X_RECIPROCAL >> 16) << GREEN | blue * X_RECIPROCAL >> 16
    )


@compiled(borrowing=True)
def _shrink_columns(means: np.ndarray, sums: np.ndarray, i: int, rows: int, picture: np.ndarray) -> None:
    """Set the picture's row i from the means of its rows; it shares the first and the last."""
    for row in range(1, rows):
        for column in range(SIDE):
            cell = np.uintp(column)
            sums[cell] = means[np.uintp(row), cell] + (sums[cell] if row > 1 else 0)
    before = (-1, -1, -1)  # no cell's
    red = green = blue = 0
    for column in range(SIDE):
        cell = np.uintp(column)
        first, total, last = int(means[0, cell]), int(sums[cell]), int(means[np.uintp(rows), cell])
        if (first, total, last) != before:  # else it has the same colour as the cell to the left
            before = first, total, last
            red, green, blue = _pixel(first, total, last, Y_LAST_WEIGHT[i], Y_FIRST_WEIGHT[i])
        picture[i, cell, 0], picture[i, cell, 1], picture[i, cell, 2] = red, green, blue


@compiled()
def _pixel(first: int, total: int, last: int, first_weight: int, last_weight: int) -> tuple[int, int, int]:
    """Return red, green and blue of a cell from the means of its shared rows and the sum of the others'."""
    # A product needs more bits than lie between neighbours
    outer = _weighted(first & OUTER, first_weight) + _weighted(last & OUTER, last_weight)
    inner = _weighted(first >> GREEN & 255, first_weight) + _weighted(last >> GREEN & 255, last_weight)
    red, green, blue = (
        (outer >> RED) + (total >> RED),
        inner + (total >> GREEN & SUM),
        (outer & SUM) + (total & SUM),
    )
    return red * Y_RECIPROCAL >> 16, green * Y_RECIPROCAL >> 16, blue * Y_RECIPROCAL >> 16


@compiled()
def _weighted(colours: int, weight: int) -> int:
    return colours * weight >> 14 & OUTER
