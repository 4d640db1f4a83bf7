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
    for cell in range(CELLS):
        if band.marked[cell, 0] | band.marked[cell, 1]:
            colour = _shrink_cell(band, i, cell)
        else:
            colour = _one_less(_one_less(np.int64(band.pixels[0, X_LAST[cell] + MARGIN])))
        picture[i, cell, 0] = colour >> 16
        picture[i, cell, 1] = colour >> 8 & 255
        picture[i, cell, 2] = colour & 255


@compiled()
def _one_less(colour: int) -> int:
    """Return what a mean over equal pixels comes to: the truncations always take one, if there is one."""
    red, green, blue = colour >> 16, colour >> 8 & 255, colour & 255
    return (red - (red > 0)) << 16 | (green - (green > 0)) << 8 | (blue - (blue > 0))


@compiled()
def _shrink_cell(band: Band, i: int, cell: int) -> int:
    """Return the colour of a cell of row i; the window's rows count upwards."""
    first, last = rows_of(i)
    red = green = blue = 0
    for row in range(last - first + 1):
        colour = _shrink_row(band, cell, row)
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
def _shrink_row(band: Band, cell: int, row: int) -> int:
    """Return the colour of a row of a cell."""
    pixels, last = band.pixels, X_LAST[cell] + MARGIN
    final = np.int64(pixels[row, last])
    if not band.marks[cell, row]:
        return _one_less(final)
    red, green, blue = 0, 0, 0
    before = X_LAST[cell - 1] + MARGIN if cell > 0 else 0
    for x in range(before + 1, last):
        pixel = np.int64(pixels[row, x])
        red, green, blue = red + (pixel >> 16), green + (pixel >> 8 & 255), blue + (pixel & 255)
    shared = np.int64(pixels[row, before])
    weight, rest = np.int64(X_WEIGHT[cell]), ONE - np.int64(X_WEIGHT[cell - 1]) if cell > 0 else 0
    red += ((shared >> 16) * rest >> 14) + ((final >> 16) * weight >> 14)
    green += ((shared >> 8 & 255) * rest >> 14) + ((final >> 8 & 255) * weight >> 14)
    blue += ((shared & 255) * rest >> 14) + ((final & 255) * weight >> 14)
    return _mean(red, green, blue, X_RECIPROCAL)


@compiled()
def _mean(red: int, green: int, blue: int, reciprocal: int) -> int:
    return (red * reciprocal >> 16) << 16 | (green * reciprocal >> 16) << 8 | blue * reciprocal >> 16
