"""gfxdraw.filled_polygon of a quadrilateral, as runs of pixels.

SDL_gfx's filledPolygonColorMT: edges cross the rows' centres at multiples of 1/65536 pixel, and a run goes from
crossing to crossing, rounded.
"""

import numpy as np

from mpi_es.envs.car_racing.exact.canvas import Canvas
from mpi_es.envs.car_racing.exact.shapes import begin_shape, set_run
from mpi_es.jit import compiled

ONE = 65536  # a pixel
NOWHERE = 1 << 40  # beyond all crossings


@compiled()
def fill(canvas: Canvas, colour: int) -> int:
    """Put the quadrilateral in canvas.x and canvas.y on the canvas and return its shape."""
    if _turns(canvas) > 2:
        return _fill_crooked(canvas, colour)
    shape = begin_shape(canvas, colour, 4)
    top, bottom, place = canvas.top[shape], canvas.bottom[shape], canvas.place[shape]
    canvas.left[top : bottom + 1] = NOWHERE
    canvas.right[top : bottom + 1] = -NOWHERE
    for i in range(4):
        _cross(canvas, i, top, bottom)
    for y in range(top, bottom + 1):
        if canvas.left[y] == NOWHERE:  # a flat shape has no run: no edge crosses
            canvas.begin[place + y - top] = canvas.end[place + y - top] = 0
        else:
            set_run(canvas, place + y - top, _rounded(canvas.left[y] + 1), _rounded(canvas.right[y] - 1))
    return shape


@compiled()
def _turns(canvas: Canvas) -> int:
    """Return how often the outline changes between upward and downward: twice, unless it is crooked."""
    turns, before = 0, 0
    for i in range(8):
        step = np.sign(canvas.y[(i + 1) % 4] - canvas.y[i % 4])
        turns += i >= 4 and step * before < 0
        before = step if step != 0 else before
    return turns


@compiled()
def _cross(canvas: Canvas, i: int, top: int, bottom: int) -> None:
    """Widen left and right, of the rows top to bottom, to where edge i crosses them."""
    x1, y1, x2, y2 = _downward(canvas, i)
    if y1 == y2:
        return
    last = y2 if y2 == canvas.y[:4].max() else y2 - 1
    inverse, width = 1.0 / (y2 - y1), x2 - x1
    for y in range(max(y1, top), min(last, bottom) + 1):
        crossing = _quotient(y - y1, inverse) * width + ONE * x1
        canvas.left[y] = min(canvas.left[y], crossing)
        canvas.right[y] = max(canvas.right[y], crossing)


@compiled()
def _downward(canvas: Canvas, i: int) -> tuple[int, int, int, int]:
    """Return x and y of the upper, then of the lower end of the edge that ends in corner i."""
    x1, y1, x2, y2 = canvas.x[(i - 1) % 4], canvas.y[(i - 1) % 4], canvas.x[i], canvas.y[i]
    if y1 <= y2:
        return x1, y1, x2, y2
    return x2, y2, x1, y1


@compiled()
def _quotient(rows: int, inverse: float) -> int:
    """Return 65536 * rows // height, given 1/height.

    Exact: the half keeps the product away from the next integer by 1/(2 height), far more than it is off.
    """
    return int((ONE * rows + 0.5) * inverse)


@compiled()
def _rounded(crossing: int) -> int:
    return (crossing + ONE // 2) >> 16


@compiled()
def _fill_crooked(canvas: Canvas, colour: int) -> int:
    """Put a quadrilateral that has two runs on some rows on the canvas as two shapes, and return the second."""
    first = begin_shape(canvas, colour, 4)
    second = begin_shape(canvas, colour, 4)
    for y in range(canvas.top[first], canvas.bottom[first] + 1):
        canvas.crossings[:] = NOWHERE
        for i in range(4):
            _collect(canvas, i, y)
        canvas.crossings.sort()
        for pair, shape in enumerate((first, second)):
            x1, x2 = canvas.crossings[2 * pair], canvas.crossings[2 * pair + 1]
            run = canvas.place[shape] + y - canvas.top[shape]
            if x1 == NOWHERE:
                canvas.begin[run] = canvas.end[run] = 0
            else:
                set_run(canvas, run, _rounded(x1 + 1), _rounded(x2 - 1))
    return second


@compiled()
def _collect(canvas: Canvas, i: int, y: int) -> None:
    """Note where edge i crosses row y, if it does."""
    x1, y1, x2, y2 = _downward(canvas, i)
    if y1 <= y < y2 or (y1 < y == y2 == canvas.y[:4].max()):
        canvas.crossings[i] = _quotient(y - y1, 1.0 / (y2 - y1)) * (x2 - x1) + ONE * x1
