"""Paint on a band of the window, and mark the cells in which not all pixels have the same colour.

A mark says that a row of a cell may be of two colours; a cell without any mark is of one colour throughout.
Hence whatever changes the colour between a pixel and its left neighbour marks the one cell that has both, and
what changes it between whole rows of a cell marks that cell anywhere.
"""

import numpy as np

from mpi_es.envs.car_racing.exact.canvas import CELLS, MARGIN, Band, Shapes
from mpi_es.envs.car_racing.exact.smoothscale import X_LAST
from mpi_es.envs.car_racing.shrinking import WINDOW_W
from mpi_es.jit import compiled

OPAQUE = 255
NARROW = 10  # pixels, fewer than a cell has: a run's end that moves by so few misses no cell

# The cell that has both a pixel and its left neighbour; a border of the window is in no cell
CELL = np.searchsorted(X_LAST, np.arange(WINDOW_W + 1)).astype(np.uint8)
CELL[[0, WINDOW_W]] = CELLS


@compiled()
def wipe(band: Band, colour: int) -> None:
    """Paint the band with one colour."""
    band.pixels[:] = colour
    band.marked[:] = 0


@compiled(inline=True)
def blend(pixels: np.ndarray, marks: np.ndarray, row: int, x: int, colour: int, alpha: int) -> None:
    """Move a pixel of a band toward a colour by alpha / 256, or make it the colour if opaque."""
    # Unsigned, an index is not tested for being counted from the end.
    y, column = np.uintp(row), np.uintp(x + MARGIN)
    below = int(pixels[y, column])
    if below != colour and alpha > 0:
        # red and blue at once: they are 16 bits apart, and a product has 16
        rest = 256 - alpha
        red_blue = ((below & 0xFF00FF) * rest + (colour & 0xFF00FF) * alpha) >> 8 & 0xFF00FF
        green = ((below & 0xFF00) * rest + (colour & 0xFF00) * alpha) >> 8 & 0xFF00
        pixels[y, column] = colour if alpha == OPAQUE else red_blue | green
        marks[np.uintp(CELL[np.uintp(x)]), y] = 1
        marks[np.uintp(CELL[np.uintp(x + 1)]), y] = 1


@compiled()
def paint_runs(band: Band, shapes: Shapes, shape: int, first: int, last: int) -> None:
    """Paint a shape's runs on the rows first to last, which are the band's."""
    top, bottom, colour = shapes.top[shape], shapes.bottom[shape], shapes.colour[shape]
    place = shapes.place[shape] - top
    begin_above, end_above = 0, 0
    for y in range(max(first, top), min(last, bottom) + 1):
        row, begin, end = y - first, int(shapes.begin[place + y]), int(shapes.end[place + y])
        if y in (top, bottom):
            _mark(band.marks, row, begin, end)
        if y > first and y > top:
            _mark_jump(band.marks, row, begin_above, begin)
            _mark_jump(band.marks, row, end_above, end)
        if begin < end:
            _mark_ends(band, row, begin, end, colour)
            band.pixels[row, begin + MARGIN : end + MARGIN] = colour  # a slice: eight times as fast as a loop
        begin_above, end_above = begin, end


@compiled()
def _mark_ends(band: Band, row: int, begin: int, end: int, colour: int) -> None:
    """Mark the cells in which a run that is about to be painted will differ from its neighbours."""
    if band.pixels[row, begin - 1 + MARGIN] != colour:
        band.marks[CELL[begin], row] = 1
    if band.pixels[row, end + MARGIN] != colour:
        band.marks[CELL[end], row] = 1


@compiled()
def _mark_jump(marks: np.ndarray, row: int, x1: int, x2: int) -> None:
    """Mark the cells between the ends of two runs, one above the other."""
    if abs(x1 - x2) > NARROW:
        _mark(marks, row, min(x1, x2), max(x1, x2))


@compiled()
def _mark(marks: np.ndarray, row: int, begin: int, end: int) -> None:
    """Mark the cells that have any of the pixels from begin to before end."""
    for cell in range(CELL[max(begin, 1)], CELL[min(max(end, 1), WINDOW_W - 1)] + 1):
        marks[cell, row] = 1
