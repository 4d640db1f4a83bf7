"""Shrink the window to the picture as pygame.transform.smoothscale does with SSE2: in x, then in y.

A pixel of the picture is a mean over a cell of the window, in fixed point with 14 bits of fraction, truncated
after each direction. The pixel in which two cells meet is shared between them.
"""

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing.exact.canvas import CELLS, MARGIN, WINDOW_H, WINDOW_W, Band
from mpi_es.jit import compiled

ONE = 1 << 14  # a whole pixel's weight
X_SPACE, Y_SPACE = ONE * WINDOW_W // CELLS, ONE * WINDOW_H // CELLS  # a cell's length
X_RECIPROCAL, Y_RECIPROCAL = (1 << 30) // X_SPACE, (1 << 30) // Y_SPACE  # 1/length, in 1/65536


def _shares(space: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the last pixel of each cell, and that pixel's weight in it; the next cell has the rest of it."""
    ends = space * np.arange(1, CELLS + 1)
    last = -(-ends // ONE) - 1
    return last.astype(np.int32), (ends - last * ONE).astype(np.int32)


X_LAST, X_WEIGHT = _shares(X_SPACE)
Y_LAST, Y_WEIGHT = _shares(Y_SPACE)


@compiled()
def rows_of(i: int) -> tuple[int, int]:
    """Return the first and the last row of the window, not yet flipped, with a share in the picture's row i."""
    return WINDOW_H - 1 - Y_LAST[i], WINDOW_H - 1 - (Y_LAST[i - 1] if i > 0 else 0)


@compiled()
def shrink(band: Band, i: int, picture: np.ndarray) -> None:
    """Shrink the band of the picture's row i."""
    pixel, plain = 0, 0
    for cell in range(CELLS):
        if band.marked[cell, 0] | band.marked[cell, 1]:
            colour = _shrink_cell(band.pixels, band.marks, i, cell)
        else:
            first = np.int64(band.pixels[0, np.uintp(X_LAST[cell] + MARGIN)])
            if first != pixel:
                pixel, plain = first, _one_less(_one_less(first))
            colour = plain
        picture[i, cell, 0] = colour >> 16
        picture[i, cell, 1] = colour >> 8 & 255
        picture[i, cell, 2] = colour & 255


@compiled()
def _one_less(colour: int) -> int:
    """Return what a mean over equal pixels comes to: the truncations always take one, where there is one."""
    return colour - (((colour & 0x7F7F7F) + 0x7F7F7F | colour) & 0x808080) // 128  # a 1 in each byte not 0


@compiled()
def _shrink_cell(pixels: np.ndarray, marks: np.ndarray, i: int, cell: int) -> int:
    """Return the colour of a cell of row i; the window's rows count upwards."""
    first, last = rows_of(i)
    final = np.uintp(X_LAST[cell] + MARGIN)
    red = green = blue = 0
    for row in range(last - first + 1):
        if marks[cell, row]:
            colour = _shrink_row(pixels, cell, row)
        else:
            colour = _one_less(np.int64(pixels[row, final]))
        weight = ONE
        if row == 0:
            weight = np.int64(Y_WEIGHT[i])
        elif row == last - first and i > 0:
            weight = ONE - np.int64(Y_WEIGHT[i - 1])
        red += (colour >> 16) * weight >> 14
        green += (colour >> 8 & 255) * weight >> 14
        blue += (colour & 255) * weight >> 14
    return _mean(red, green, blue, Y_RECIPROCAL)


@compiled()
def _shrink_row(pixels: np.ndarray, cell: int, row: int) -> int:
    """Return the colour of a row of a cell."""
    before, rest = 0, 0
    if cell > 0:
        before, rest = X_LAST[cell - 1] + MARGIN, ONE - X_WEIGHT[cell - 1]
    line = pixels[row, before : X_LAST[cell] + MARGIN + 1]
    red_blue, green = 0, 0
    for pixel in line[1:-1]:
        red_blue += np.int64(pixel) & 0xFF00FF
        green += np.int64(pixel) & 0xFF00
    shared, final, weight = np.int64(line[0]), np.int64(line[-1]), np.int64(X_WEIGHT[cell])
    red = (red_blue >> 16) + ((shared >> 16) * rest >> 14) + ((final >> 16) * weight >> 14)
    green = (green >> 8) + ((shared >> 8 & 255) * rest >> 14) + ((final >> 8 & 255) * weight >> 14)
    blue = (red_blue & 0xFFFF) + ((shared & 255) * rest >> 14) + ((final & 255) * weight >> 14)
    return _mean(red, green, blue, X_RECIPROCAL)


@compiled()
def _mean(red: int, green: int, blue: int, reciprocal: int) -> int:
    return (red * reciprocal >> 16) << 16 | (green * reciprocal >> 16) << 8 | blue * reciprocal >> 16
