"""Shrink the window to the picture as pygame.transform.smoothscale does with SSE2: in x, then in y.

A pixel of the picture is a mean over a cell of the window, in fixed point with 14 bits of fraction, truncated
after each direction. The pixel in which two cells meet is shared between them.
"""

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing.exact.canvas import BAND, CELLS, MARGIN, Band
from mpi_es.envs.car_racing.shrinking import ONE, WINDOW_H, X_RECIPROCAL, Y_RECIPROCAL, X, Y
from mpi_es.jit import compiled

# Where a cell's row begins and ends in a band, both of which it shares, and with which weights
X_LAST, X_LAST_WEIGHT = X.end, X.trail
X_FIRST, X_FIRST_WEIGHT = np.append(-1, X_LAST[:-1]), np.append(0, ONE - X_LAST_WEIGHT[:-1])
Y_LAST, Y_LAST_WEIGHT = Y.end, Y.trail


@compiled()
def rows_of(i: int) -> tuple[int, int]:
    """Return the first and last of the window's rows, not yet flipped, that the picture's row i is from."""
    return WINDOW_H - 1 - Y_LAST[i], WINDOW_H - 1 - (Y_LAST[i - 1] if i > 0 else 0)


def _row_weights() -> NDArray[np.int64]:
    """Return the weights (CELLS, BAND) of a band's rows, which count upwards, the picture's downwards."""
    weights = np.zeros((CELLS, BAND), np.int64)
    for i in range(CELLS):
        rows = Y_LAST[i] - (Y_LAST[i - 1] if i > 0 else 0)
        weights[i, 0] = Y_LAST_WEIGHT[i]
        weights[i, 1:rows] = ONE
        weights[i, rows] = ONE - Y_LAST_WEIGHT[i - 1] if i > 0 else ONE
    return weights


ROW_WEIGHTS = _row_weights()


@compiled()
def shrink(band: Band, i: int, picture: np.ndarray) -> None:
    """Shrink the band of the picture's row i."""
    pixel, plain = 0, 0
    for cell in range(CELLS):
        if band.marked[cell, 0] | band.marked[cell, 1]:
            colour = _shrink_cell(band.pixels, band.marks, i, cell)
        else:
            last = int(band.pixels[0, np.uintp(X_LAST[cell] + MARGIN)])
            if last != pixel:
                pixel, plain = last, _one_less(_one_less(last))
            colour = plain
        picture[i, cell, 0] = colour >> 16
        picture[i, cell, 1] = colour >> 8 & 255
        picture[i, cell, 2] = colour & 255


@compiled()
def _one_less(colour: int) -> int:
    """Return what a mean over equal pixels comes to: the truncations take one, where there is one."""
    return colour - (((colour & 0x7F7F7F) + 0x7F7F7F | colour) >> 7 & 0x010101)  # a 1 in each byte not 0


@compiled()
def _shrink_cell(pixels: np.ndarray, marks: np.ndarray, i: int, cell: int) -> int:
    """Return the colour of a cell of the picture's row i."""
    first, last = X_FIRST[cell] + MARGIN, X_LAST[cell] + MARGIN
    first_weight, last_weight = X_FIRST_WEIGHT[cell], X_LAST_WEIGHT[cell]
    red = green = blue = 0
    for row in range(BAND):
        if marks[cell, row]:
            colour = _shrink_row(pixels, row, first, last, first_weight, last_weight)
        else:
            colour = _one_less(int(pixels[row, np.uintp(last)]))
        weight = ROW_WEIGHTS[i, row]
        red += (colour >> 16) * weight >> 14
        green += (colour >> 8 & 255) * weight >> 14
        blue += (colour & 255) * weight >> 14
    return _mean(red, green, blue, Y_RECIPROCAL)


@compiled()
def _shrink_row(
    pixels: np.ndarray, row: int, first: int, last: int, first_weight: int, last_weight: int
) -> int:
    """Return the colour of the pixels first to last of a row; only those between have a whole weight."""
    red_blue, all_green = 0, 0  # sums, red's 16 bits above blue's
    for x in range(first + 1, last):
        pixel = int(pixels[row, np.uintp(x)])
        red_blue += pixel & 0xFF00FF
        all_green += pixel & 0xFF00
    left, right = int(pixels[row, np.uintp(first)]), int(pixels[row, np.uintp(last)])
    red, green, blue = red_blue >> 16, all_green >> 8, red_blue & 0xFFFF
    red += ((left >> 16) * first_weight >> 14) + ((right >> 16) * last_weight >> 14)
    green += ((left >> 8 & 255) * first_weight >> 14) + ((right >> 8 & 255) * last_weight >> 14)
    blue += ((left & 255) * first_weight >> 14) + ((right & 255) * last_weight >> 14)
    return _mean(red, green, blue, X_RECIPROCAL)


@compiled()
def _mean(red: int, green: int, blue: int, reciprocal: int) -> int:
    return (red * reciprocal >> 16) << 16 | (green * reciprocal >> 16) << 8 | blue * reciprocal >> 16
