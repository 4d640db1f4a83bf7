"""The antialiased lines of gfxdraw.aapolygon: SDL_gfx's _aalineColor and _clipLine."""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.exact.band import blend_run, paint_run
from mpi_es.worlds.car_racing.picture.exact.canvas import LINES, SHAPE_COUNT, STRIDE, Band, Canvas, Shapes
from mpi_es.worlds.car_racing.picture.sizes import WINDOW_H, WINDOW_W

# Places in Shapes.lines. A line walks from its upper end; WIDTH and HEIGHT are not negative, and a height of
# -1 says that nothing of it is in the window. Its start, which may be either end, is drawn in full; the other
# end is left to the next line.
START_X, START_Y, UPPER_X, UPPER_Y, WIDTH, HEIGHT, DIRECTION, SLOPE = range(8)
HIDDEN = -1

LEFT, RIGHT, BELOW, ABOVE = 1, 2, 4, 8  # of the window: SDL_gfx's clip codes


@compiled(borrowing=True)
def outline(canvas: Canvas, shape: int) -> None:
    """Add the lines around the quadrilateral of the first four corners to a shape."""
    shapes, x, y = canvas.shapes, canvas.corners.x, canvas.corners.y
    shapes.line_count[shape] = LINES
    for i in range(LINES):
        j = (i + 1) % LINES
        _prepare(shapes.lines, shape, i, x[i], y[i], x[j], y[j])


@compiled(borrowing=True)
def _prepare(lines: np.ndarray, shape: int, i: int, x1: int, y1: int, x2: int, y2: int) -> None:
    """Set line i of a shape."""
    visible, x1, y1, x2, y2 = _clip(x1, y1, x2, y2)
    lines[shape, i, START_X], lines[shape, i, START_Y] = x1, y1
    if y1 > y2:
        x1, y1, x2, y2 = x2, y2, x1, y1
    width, height = abs(x2 - x1), y2 - y1
    lines[shape, i, UPPER_X], lines[shape, i, UPPER_Y] = x1, y1
    lines[shape, i, WIDTH], lines[shape, i, HEIGHT] = width, height if visible else HIDDEN
    lines[shape, i, DIRECTION] = 1 if x2 >= x1 else -1
    if width > 0 and height > 0:  # of the shorter side to the longer one, in 1/65536
        lines[shape, i, SLOPE] = (min(width, height) << 16) // max(width, height)


@compiled()
def _clip(x1: int, y1: int, x2: int, y2: int) -> tuple[bool, int, int, int, int]:
    """Return whether a line enters the window, and the two ends of its part there.

    Slopes are in single precision, and the ends may change places, as in _clipLine.
    """
    while True:
        code1, code2 = _clip_code(x1, y1), _clip_code(x2, y2)
        if code1 | code2 == 0 or code1 & code2 != 0:
            return code1 | code2 == 0, x1, y1, x2, y2
        if code1 == 0:
            x1, y1, x2, y2, code1 = x2, y2, x1, y1, code2
        slope = np.float32(1.0)
        if x1 != x2:
            slope = np.float32(y2 - y1) / np.float32(x2 - x1)
        if code1 & (LEFT | RIGHT):
            border = 0 if code1 & LEFT else WINDOW_W - 1
            y1 += int(np.float32(border - x1) * slope)
            x1 = border
        else:
            border = WINDOW_H - 1 if code1 & BELOW else 0
            if x1 != x2:
                x1 += int(np.float32(border - y1) / slope)
            y1 = border


@compiled()
def _clip_code(x: int, y: int) -> int:
    horizontal = LEFT if x < 0 else RIGHT if x >= WINDOW_W else 0
    vertical = ABOVE if y < 0 else BELOW if y >= WINDOW_H else 0
    return horizontal | vertical


@compiled(inline=True)
def paint_lines(band: Band, shapes: Shapes, shape: int, first: int, last: int) -> None:
    """Paint the parts of a shape's lines that are on the rows first to last, which are the band's."""
    lines, colour = shapes.lines, shapes.colour[shape]
    for i in range(shapes.line_count[shape]):
        y, height, width = lines[shape, i, UPPER_Y], lines[shape, i, HEIGHT], lines[shape, i, WIDTH]
        if height == HIDDEN or y > last or y + height < first:
            continue
        start_x, start_y = lines[shape, i, START_X], lines[shape, i, START_Y]
        if first <= start_y <= last:
            start = (start_y - first) * STRIDE + start_x
            paint_run(band.changes, band.colours, start, start + 1, colour)
        if width == 0 or height == 0:
            _paint_straight(band, shapes, shape, i, first, last)
        elif height > width:
            _paint_steep(band, shapes, shape, i, first, last)
        else:
            _paint_shallow(band, shapes, shape, i, first, last)


@compiled(inline=True)
def _paint_straight(band: Band, shapes: Shapes, shape: int, i: int, first: int, last: int) -> None:
    """Paint a column or a row."""
    x, y, width, height, direction, _ = _line(shapes, shape, i)
    left = x if direction > 0 else x - width
    for row in range(max(y, first), min(y + height, last) + 1):
        begin = (row - first) * STRIDE + left
        paint_run(band.changes, band.colours, begin, begin + width + 1, shapes.colour[shape])


@compiled(inline=True)
def _paint_steep(band: Band, shapes: Shapes, shape: int, i: int, first: int, last: int) -> None:
    """Blend two pixels on each row between the line's ends."""
    x, y, _, height, direction, slope = _line(shapes, shape, i)
    for row in range(max(y + 1, first), min(y + height - 1, last) + 1):
        across = (row - y) * slope
        left = x + direction * (across >> 16) - (direction < 0)
        distance = (across & 65535) - (direction < 0) * 65536
        _blend(band, shapes, shape, first, row, left, left + 2, distance, -direction * 65536)


@compiled(inline=True)
def _paint_shallow(band: Band, shapes: Shapes, shape: int, i: int, first: int, last: int) -> None:
    """Blend two pixels on each column between the line's ends, where they are on the band's rows."""
    x, y, width, height, direction, slope = _line(shapes, shape, i)
    inverse = 1.0 / slope
    for row in range(max(y, first), min(y + height, last) + 1):
        below = (row - y) * 65536
        near = max(_step(below - 65536, slope, inverse), 1)  # the first with its lower pixel here
        far = min(_step(below + 65536, slope, inverse), width)  # the first with its upper one in the next row
        left, nearest = (x + near, near) if direction > 0 else (x - far + 1, far - 1)
        distance = nearest * slope - below
        _blend(band, shapes, shape, first, row, left, left + far - near, distance, direction * slope)


@compiled()
def _step(height: int, slope: int, inverse: float) -> int:
    """Return the first step, from 0, after which a line is down by a height, given 1/slope.

    Exact: the half keeps the product away from the next integer by 1/(2 slope), far more than its error.
    """
    return int((height + slope - 0.5) * inverse)


@compiled(inline=True)
def _line(shapes: Shapes, shape: int, i: int) -> tuple[int, int, int, int, int, int]:
    """Return x and y of a line's upper end, its width, height, direction and slope."""
    lines = shapes.lines
    x, y = lines[shape, i, UPPER_X], lines[shape, i, UPPER_Y]
    width, height = lines[shape, i, WIDTH], lines[shape, i, HEIGHT]
    return x, y, width, height, lines[shape, i, DIRECTION], lines[shape, i, SLOPE]


@compiled(inline=True)
def _blend(
    band: Band,
    shapes: Shapes,
    shape: int,
    first: int,
    row: int,
    left: int,
    right: int,
    distance: int,
    step: int,
) -> None:
    """Blend the columns from left to before right of a line, except those that it does not change.

    There the shape itself was painted with the same colour, or one of the next two, usually a kerb and the
    next tile of the road, will be.

    Args:
        distance: from the line to the left column, in 1/65536.
        step: its growth from column to column.
    """
    begin, end = left, right
    for other in range(shape, min(shape + 3, shapes.counts[SHAPE_COUNT])):
        if shapes.top[other] <= row <= shapes.bottom[other]:
            run = np.uintp(shapes.place[other] + row - shapes.top[other])
            run_begin, run_end = int(shapes.begin[run]), int(shapes.end[run])
            begin, end = (
                max(begin, run_end) if run_begin <= begin else begin,
                min(end, run_begin) if run_end >= end else end,
            )
    if begin < end:
        place, distance = (row - first) * STRIDE + begin, distance + step * (begin - left)
        blend_run(
            band.changes, band.colours, place, place + end - begin, shapes.colour[shape], distance, step
        )
