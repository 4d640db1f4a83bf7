"""pygame.draw.polygon of a convex polygon: the run of pixels that it paints on each row."""

import math

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled

UNCROSSED = 1 << 30  # beyond all columns

Ends = NDArray[np.int32]


@compiled(borrowing=True)
def find_runs(x: NDArray[np.int64], y: NDArray[np.int64], count: int, first: Ends, second: Ends) -> int:
    """Write both ends of each row's run, in either order, from the row of the smallest y; return that row.

    Args:
        x: of the corners, of which there are `count`.
        first: one number for each row, or more.
        second: likewise.
    """
    low, high = extent(y, count)
    for row in range(high - low + 1):
        first[row] = UNCROSSED
    if low == high:  # pygame's special case, in the first second
        first[0], second[0] = extent(x, count)
    for i in range(count):
        before = i - 1 if i > 0 else count - 1
        if y[before] < y[i]:
            _cross(x[before], y[before], x[i], y[i], low, high, first, second)
        elif y[before] > y[i]:
            _cross(x[i], y[i], x[before], y[before], low, high, first, second)
    return low


@compiled(borrowing=True)
def include_flat_edges(
    x: NDArray[np.int64], y: NDArray[np.int64], count: int, low: int, first: Ends, second: Ends
) -> None:
    """Extend the runs to both ends of each horizontal edge, as pygame does.

    It matters if truncating corners to whole pixels leaves such an edge between the highest and the lowest
    row. The close picture does not do it.

    Args:
        low: the row of the first run.
    """
    for i in range(count):
        before = i - 1 if i > 0 else count - 1
        if y[before] == y[i]:
            row = y[i] - low
            least, greatest = min(first[row], second[row]), max(first[row], second[row])
            first[row], second[row] = min(least, x[before], x[i]), max(greatest, x[before], x[i])


@compiled(borrowing=True)
def extent(numbers: NDArray[np.int64], count: int) -> tuple[int, int]:
    """Return the smallest and the largest of the first `count` numbers."""
    least = greatest = numbers[0]
    for i in range(1, count):
        least, greatest = min(least, numbers[i]), max(greatest, numbers[i])
    return least, greatest


@compiled(borrowing=True)
def _cross(x1: int, y1: int, x2: int, y2: int, low: int, high: int, first: Ends, second: Ends) -> None:
    """Find where the edge from y1 up to y2 crosses the rows; row y2 counts only if it is the highest.

    The first edge to cross a row is rounded down, the second up, whichever of them is on the left.
    """
    width, height = np.float32(x2 - x1), np.float32(y2 - y1)
    for row in range(y1 - low, y2 - low + (y2 == high)):
        across = np.float32(row + low - y1) * width / height
        if first[row] == UNCROSSED:
            first[row] = x1 + math.floor(across)
        else:
            second[row] = x1 + math.ceil(across)
