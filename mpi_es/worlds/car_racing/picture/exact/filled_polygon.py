"""gfxdraw.filled_polygon of a quadrilateral, as runs of pixels.

SDL_gfx's filledPolygonColorMT: edges cross the rows' centres at multiples of 1/65536 pixel, and a run goes
from crossing to crossing, rounded.
"""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.exact.canvas import Canvas, Corners
from mpi_es.worlds.car_racing.picture.exact.runs import begin_shape, visible_run
from mpi_es.worlds.car_racing.picture.pygame_polygon import extent

ONE = 65536  # a pixel
NOWHERE = (1 << 31) - ONE  # beyond all crossings


@compiled(borrowing=True)
def fill(canvas: Canvas, colour: int) -> int:
    """Put the quadrilateral of the first four corners on the canvas and return its shape."""
    if _turns(canvas.corners.y) > 2:
        return _fill_crooked(canvas, colour)
    corners, shapes = canvas.corners, canvas.shapes
    shape = begin_shape(canvas, colour, 4)
    top, bottom, place = shapes.top[shape], shapes.bottom[shape], shapes.place[shape]
    lowest = extent(corners.y, 4)[1]
    left, right = corners.left, corners.right
    for row in range(bottom - top + 1):
        left[np.uintp(row)], right[np.uintp(row)] = NOWHERE, -NOWHERE
    for i in range(4):
        _cross(corners, i, top, bottom, lowest)
    for row in range(bottom - top + 1):
        begin, end, run = left[np.uintp(row)], right[np.uintp(row)], np.uintp(place + row)
        if begin == NOWHERE:  # a flat shape has no run: no edge crosses
            shapes.begin[run] = shapes.end[run] = 0
        else:
            shapes.begin[run], shapes.end[run] = visible_run(_rounded(begin + 1), _rounded(end - 1))
    return shape


@compiled(borrowing=True)
def _turns(y: np.ndarray) -> int:
    """Return how often the outline changes between upward and downward: twice, unless it is crooked."""
    turns, before = 0, 0
    for i in range(8):
        step = y[(i + 1) & 3] - y[i & 3]
        turns += i >= 4 and step * before < 0
        before = step if step != 0 else before
    return turns


@compiled(borrowing=True)
def _cross(corners: Corners, i: int, top: int, bottom: int, lowest: int) -> None:
    """Widen left and right, of the rows top to bottom, to where edge i crosses them."""
    x1, y1, x2, y2 = _downward(corners, i)
    if y1 == y2:
        return
    first, last = max(y1, top), min(y2 if y2 == lowest else y2 - 1, bottom)
    if first > last:
        return
    left, right, inverse, width = corners.left, corners.right, 1.0 / (y2 - y1), x2 - x1
    for y in range(first, last + 1):
        row = np.uintp(y - top)
        crossing = np.int32(_quotient(y - y1, inverse) * width + ONE * x1)
        left[row] = min(left[row], crossing)
        right[row] = max(right[row], crossing)


@compiled(borrowing=True)
def _downward(corners: Corners, i: int) -> tuple[int, int, int, int]:
    """Return x and y of the upper, then of the lower end of the edge that ends in corner i."""
    x1, y1, x2, y2 = corners.x[(i - 1) & 3], corners.y[(i - 1) & 3], corners.x[i], corners.y[i]
    if y1 <= y2:
        return x1, y1, x2, y2
    return x2, y2, x1, y1


@compiled()
def _quotient(rows: int, inverse: float) -> np.int32:
    """Return 65536 * rows // height, given 1/height.

    Exact: the half keeps the product away from the next integer by 1/(2 height), far more than its error.
    """
    return np.int32((ONE * rows + 0.5) * inverse)  # of 32 bits, it is computed for several rows at once


@compiled()
def _rounded(crossing: int) -> int:
    return (crossing + ONE // 2) >> 16


@compiled(borrowing=True)
def _fill_crooked(canvas: Canvas, colour: int) -> int:
    """Put a quadrilateral that has two runs on some rows on the canvas as two shapes; return the second."""
    first = begin_shape(canvas, colour, 4)
    second = begin_shape(canvas, colour, 4)
    corners, shapes = canvas.corners, canvas.shapes
    lowest = extent(corners.y, 4)[1]
    for y in range(shapes.top[first], shapes.bottom[first] + 1):
        for i in range(4):
            corners.crossings[i] = NOWHERE  # the crossings found are sorted in before
        for i in range(4):
            _collect(corners, i, y, lowest)
        for pair in range(2):
            x1, x2 = corners.crossings[2 * pair], corners.crossings[2 * pair + 1]
            run = shapes.place[first + pair] + y - shapes.top[first]
            if x1 == NOWHERE:
                shapes.begin[run] = shapes.end[run] = 0
            else:
                shapes.begin[run], shapes.end[run] = visible_run(_rounded(x1 + 1), _rounded(x2 - 1))
    return second


@compiled(borrowing=True)
def _collect(corners: Corners, i: int, y: int, lowest: int) -> None:
    """Insert the crossing of edge i and row y in order, if there is one."""
    x1, y1, x2, y2 = _downward(corners, i)
    if y1 <= y < y2 or y1 < y == y2 == lowest:
        crossing = _quotient(y - y1, 1.0 / (y2 - y1)) * (x2 - x1) + ONE * x1
        for j in range(4):
            crossing, corners.crossings[j] = (
                max(crossing, corners.crossings[j]),
                min(crossing, corners.crossings[j]),
            )
