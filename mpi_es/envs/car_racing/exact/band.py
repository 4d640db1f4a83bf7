"""Paint on a band of the window, and mark the cells in which not all pixels have the same colour.

A mark says that a row of a cell may be of two colours; a cell without any mark is of one colour throughout.
Hence whatever changes the colour between a pixel and its left neighbour marks the one cell that has both, and
what changes it between whole rows of a cell marks that cell anywhere.
"""

import numpy as np

from mpi_es.envs.car_racing.exact.canvas import CELLS, MARGIN, WINDOW_W, Canvas
from mpi_es.envs.car_racing.exact.smoothscale import X_LAST
from mpi_es.jit import compiled

OPAQUE = 255
NARROW = 10  # pixels, fewer than a cell has: a run's end that moves by so few misses no cell

# The cell that has both a pixel and its left neighbour; a border of the window is in no cell
CELL = np.searchsorted(X_LAST, np.arange(WINDOW_W + 1)).astype(np.uint8)
CELL[[0, WINDOW_W]] = CELLS


@compiled()
def wipe(canvas: Canvas, colour: int) -> None:
    """Paint the band with one colour."""
    canvas.pixels[:] = colour
    canvas.marked[:] = 0


@compiled()
def blend(canvas: Canvas, row: int, x: int, colour: int, alpha: int) -> None:
    """Move a pixel toward a colour by alpha / 256, or make it the colour if opaque."""
    below = np.int64(canvas.pixels[row, x + MARGIN])
    if below == colour or alpha == 0:
        return
    if alpha != OPAQUE:
        # red and blue at once: they are 16 bits apart, and a product has 16
        red_blue = (below & 0xFF00FF) * (256 - alpha) + (colour & 0xFF00FF) * alpha
        green = (below & 0xFF00) * (256 - alpha) + (colour & 0xFF00) * alpha
        colour = (red_blue >> 8 & 0xFF00FF) | (green >> 8 & 0xFF00)
    canvas.pixels[row, x + MARGIN] = colour
    canvas.marks[CELL[x], row] = 1
    canvas.marks[CELL[x + 1], row] = 1


@compiled()
def paint_runs(canvas: Canvas, shape: int, first: int, last: int) -> None:
    """Paint a shape's runs on the rows first to last, which are the band's."""
    top, bottom, colour = canvas.top[shape], canvas.bottom[shape], canvas.colour[shape]
    begin_above, end_above = 0, 0
    for y in range(max(first, top), min(last, bottom) + 1):
        run, row = canvas.place[shape] + y - top, y - first
        begin, end = np.int64(canvas.begin[run]), np.int64(canvas.end[run])
        if y in (top, bottom):
            _mark(canvas, row, begin, end)
        if y > max(first, top):
            _mark_jump(canvas, row, begin_above, begin)
            _mark_jump(canvas, row, end_above, end)
        if begin < end:
            _paint_run(canvas, row, begin, end, colour)
        begin_above, end_above = begin, end


@compiled()
def _paint_run(canvas: Canvas, row: int, begin: int, end: int, colour: int) -> None:
    pixels = canvas.pixels[row]
    if pixels[begin - 1 + MARGIN] != colour:
        canvas.marks[CELL[begin], row] = 1
    if pixels[end + MARGIN] != colour:
        canvas.marks[CELL[end], row] = 1
    pixels[begin + MARGIN : end + MARGIN] = colour


@compiled()
def _mark_jump(canvas: Canvas, row: int, x1: int, x2: int) -> None:
    if abs(x1 - x2) > NARROW:
        _mark(canvas, row, min(x1, x2), max(x1, x2))


@compiled()
def _mark(canvas: Canvas, row: int, begin: int, end: int) -> None:
    """Mark the cells that have any of the pixels from begin to before end."""
    for cell in range(CELL[max(begin, 1)], min(CELL[end], CELLS - 1) + 1):
        canvas.marks[cell, row] = 1
