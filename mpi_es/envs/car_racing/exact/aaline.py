"""The antialiased lines of gfxdraw.aapolygon: SDL_gfx's _aalineColor without its last pixel, and _clipLine."""

import numpy as np

from mpi_es.envs.car_racing.exact.band import OPAQUE, blend
from mpi_es.envs.car_racing.exact.canvas import LINES, WINDOW_H, WINDOW_W, Canvas
from mpi_es.jit import compiled

# Places in Canvas.lines. A line walks from its upper end; WIDTH and HEIGHT are not negative, and a height of -1
# says that nothing of it is in the window. Its start, which may be either end, is drawn in full.
START_X, START_Y, UPPER_X, UPPER_Y, WIDTH, HEIGHT, DIRECTION, SLOPE = range(8)
HIDDEN = -1

LEFT, RIGHT, BELOW, ABOVE = 1, 2, 4, 8  # of the window: SDL_gfx's clip codes


@compiled()
def outline(canvas: Canvas, shape: int) -> None:
    """Give a shape the lines around the quadrilateral in canvas.x and canvas.y."""
    canvas.line_count[shape] = LINES
    for i in range(LINES):
        j = (i + 1) % LINES
        _prepare(canvas.lines[shape, i], canvas.x[i], canvas.y[i], canvas.x[j], canvas.y[j])


@compiled()
def _prepare(line: np.ndarray, x1: int, y1: int, x2: int, y2: int) -> None:
    visible, x1, y1, x2, y2 = _clip(x1, y1, x2, y2)
    line[START_X], line[START_Y] = x1, y1
    if y1 > y2:
        x1, y1, x2, y2 = x2, y2, x1, y1
    width, height = abs(x2 - x1), y2 - y1
    line[UPPER_X], line[UPPER_Y], line[DIRECTION] = x1, y1, 1 if x2 >= x1 else -1
    line[WIDTH], line[HEIGHT] = width, height if visible else HIDDEN
    if width > 0 and height > 0:  # of the shorter side to the longer one, in 1/65536
        line[SLOPE] = (min(width, height) << 16) // max(width, height)


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


@compiled()
def paint_line(canvas: Canvas, line: np.ndarray, colour: int, first: int, last: int) -> None:
    """Paint the part of a line that is on the rows first to last, which are the band's."""
    x, y, width, height = line[UPPER_X], line[UPPER_Y], line[WIDTH], line[HEIGHT]
    if height == HIDDEN or y > last or y + height < first:
        return
    if width == 0:
        for row in range(max(y, first), min(y + height, last) + 1):
            blend(canvas, row - first, x, colour, OPAQUE)
    elif height == 0:
        left = min(x, x + line[DIRECTION] * width)
        for column in range(left, left + width + 1):
            blend(canvas, y - first, column, colour, OPAQUE)
    else:
        if first <= line[START_Y] <= last:
            blend(canvas, line[START_Y] - first, line[START_X], colour, OPAQUE)
        if height > width:
            _paint_steep(canvas, line, colour, first, last)
        else:
            _paint_shallow(canvas, line, colour, first, last)


@compiled()
def _paint_steep(canvas: Canvas, line: np.ndarray, colour: int, first: int, last: int) -> None:
    """Blend two pixels on each row between the line's ends, by how near they are."""
    y, height = line[UPPER_Y], line[HEIGHT]
    for row in range(max(y + 1, first), min(y + height - 1, last) + 1):
        across = (row - y) * line[SLOPE]
        x = line[UPPER_X] + line[DIRECTION] * (across >> 16)
        weight = (across >> 8) & 255
        blend(canvas, row - first, x, colour, _alpha(255 - weight))
        blend(canvas, row - first, x + line[DIRECTION], colour, _alpha(weight))


@compiled()
def _paint_shallow(canvas: Canvas, line: np.ndarray, colour: int, first: int, last: int) -> None:
    """Blend two pixels on each column between the line's ends, where they are on the band's rows."""
    slope, y = line[SLOPE], line[UPPER_Y]
    begin = max(-((y + 1 - first) * 65536 // slope), 1)  # the first whose lower pixel is not before the band
    end = min(-((y - last - 1) * 65536 // slope), line[WIDTH])  # the first whose upper pixel is behind it
    for column in range(begin, end):
        down = column * slope
        row = y + (down >> 16) - first
        x = line[UPPER_X] + line[DIRECTION] * column
        weight = (down >> 8) & 255
        if row >= 0:
            blend(canvas, row, x, colour, _alpha(255 - weight))
        if row < last - first:
            blend(canvas, row + 1, x, colour, _alpha(weight))


@compiled()
def _alpha(weight: int) -> int:
    return (255 * weight) >> 8
