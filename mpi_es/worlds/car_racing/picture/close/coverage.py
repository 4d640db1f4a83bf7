"""Areas of each pixel that polygons cover: every edge adds what lies below it, column by column.

In each pixel that it crosses, an edge adds the change of coverage against the pixel above. The sum down a
column is then the coverage. Edges go around a polygon clockwise, y pointing down: those at its top add and
those at its bottom subtract. An edge that two equal neighbours share is not drawn. What is added is weighted:
1 for plain coverage, a colour for a sum of colours.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.sizes import SIDE, VIEW_ROWS

SPARE = 2  # rows below, for the lower ends of edges that end at VIEW_ROWS
FIRST_ROW: Any = np.int64(0)  # a literal 0 would make numba compile a second `_deposit` for it
Weights = tuple[np.float32, ...]

ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
RIGHT, BOTTOM = np.float32(SIDE), np.float32(VIEW_ROWS)
GROUP = 8  # columns
GROUPS = SIDE // GROUP


class Cells(NamedTuple):
    """What edges add in each pixel."""

    areas: NDArray[np.float32]  # (VIEW_ROWS + SPARE, weights, SIDE)
    touched: NDArray[np.int64]  # (VIEW_ROWS + SPARE,) a bit for each group of columns: not all of it is zero


def allocate(weights: int) -> Cells:
    """Return cells without areas."""
    rows = VIEW_ROWS + SPARE
    return Cells(np.zeros((rows, weights, SIDE), np.float32), np.zeros(rows, np.int64))


@compiled()
def add_edge(
    cells: Cells,
    x0: np.float32,
    y0: np.float32,
    x1: np.float32,
    y1: np.float32,
    weights: Weights,
) -> None:
    """Add what lies below the edge from (x0, y0) to (x1, y1) to the cells."""
    sign = ONE
    if x0 > x1:
        x0, y0, x1, y1, sign = x1, y1, x0, y0, -ONE
    slope = (y1 - y0) / (x1 - x0)
    if x0 < ZERO:
        x0, y0 = ZERO, y0 - slope * x0
    if x1 > RIGHT:
        x1, y1 = RIGHT, y0 + slope * (RIGHT - x0)
    if x0 >= x1 or min(y0, y1) >= BOTTOM:  # also if upright, when the slope is infinite
        return
    if max(y0, y1) <= ZERO:
        _add_flat(cells, x0, x1, sign, weights)
        return
    if y0 < ZERO:  # what is above the picture covers all of the columns below
        cut = min(x0 - y0 / slope, x1)
        _add_flat(cells, x0, cut, sign, weights)
        x0, y0 = cut, ZERO
    elif y1 < ZERO:
        cut = min(x0 - y0 / slope, x1)
        _add_flat(cells, cut, x1, sign, weights)
        x1, y1 = cut, ZERO
    if y0 > BOTTOM:
        x0, y0 = min(x0 + (BOTTOM - y0) / slope, x1), BOTTOM
    elif y1 > BOTTOM:
        x1, y1 = min(x0 + (BOTTOM - y0) / slope, x1), BOTTOM
    _add_inside(cells, x0, y0, x1, y1, slope, sign, weights)


@compiled()
def _add_flat(cells: Cells, x0: np.float32, x1: np.float32, sign: np.float32, weights: Weights) -> None:
    """Add all of the columns from x0 to x1."""
    column = int(x0)
    while x0 < x1:
        end = min(np.float32(column + 1), x1)
        _deposit(cells, FIRST_ROW, column, (end - x0) * sign, weights)
        x0 = end
        column += 1


@compiled()
def _add_inside(
    cells: Cells,
    x0: np.float32,
    y0: np.float32,
    x1: np.float32,
    y1: np.float32,
    slope: np.float32,
    sign: np.float32,
    weights: Weights,
) -> None:
    """Add what lies below an edge inside the picture that goes to the right."""
    low, high = min(y0, y1), max(y0, y1)
    column = int(x0)
    x, y = x0, y0
    while x < x1:
        end = min(np.float32(column + 1), x1)
        y_end = min(max(y0 + slope * (end - x0), low), high)
        _add_column(cells, column, min(y, y_end), max(y, y_end), (end - x) * sign, weights)
        x, y = end, y_end
        column += 1


@compiled()
def _add_column(
    cells: Cells,
    column: int,
    top: np.float32,
    bottom: np.float32,
    width: np.float32,
    weights: Weights,
) -> None:
    """Add what lies below the part of an edge in one column, which goes from row top to row bottom."""
    row, last = int(top), int(bottom)
    if row == last:
        below = width * (HALF * (top + bottom) - np.float32(row))
        _deposit(cells, row, column, width - below, weights)
        _deposit(cells, row + 1, column, below, weights)
        return
    # Per row of height 1, the edge advances by `rate`; a triangle at either end, trapezia between them.
    rate = width / (bottom - top)
    height = np.float32(row + 1) - top
    given, area = HALF * rate * height * height, rate * height
    _deposit(cells, row, column, given, weights)
    row += 1
    while row < last:
        covered = area + HALF * rate
        _deposit(cells, row, column, covered - given, weights)
        given, area = covered, area + rate
        row += 1
    height = bottom - np.float32(last)
    covered = width - HALF * rate * height * height
    _deposit(cells, last, column, covered - given, weights)
    _deposit(cells, last + 1, column, width - covered, weights)


@compiled()
def _deposit(cells: Cells, row: int, column: int, area: np.float32, weights: Weights) -> None:
    """Add a weighted area to a cell."""
    for lane in range(len(weights)):
        cells.areas[row, lane, column] += area * weights[lane]
    cells.touched[row] |= 1 << column // GROUP
