"""What a picture is drawn from and on: the shapes in view, as runs of pixels, and a band of the window."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing.shrinking import WINDOW_H, WINDOW_W
from mpi_es.envs.car_racing.state import TILES

CELLS = 96  # along either side of the picture
PICTURE_ROWS = 84  # below them is the panel of indicators
FIRST_ROW = 100  # the panel hides the window's rows before; it is drawn upside down and flipped afterwards

BAND = 10  # the most rows of the window that have a share in one row of the picture
MARGIN = 1  # pixels before and after a band's row, so that each of the window's has two neighbours

# The playfield, 400 patches of grass and the track, of which a crooked one takes two places; the car's four
# wheels with a white stripe each, and its hull of four parts.
SHAPES = 2 * (401 + 2 * TILES) + 12
LINES = 4  # around a shape


class Shapes(NamedTuple):
    """What is in view, in the order of drawing.

    A shape is a run of pixels on each of its rows, maybe an empty one, and antialiased lines around them. Of
    these tables only the beginning is ever touched.
    """

    colour: NDArray[np.int64]  # (SHAPES,) 0x00RRGGBB
    top: NDArray[np.int64]  # (SHAPES,) first row, of the window not yet flipped
    bottom: NDArray[np.int64]  # (SHAPES,) last row
    place: NDArray[np.int64]  # (SHAPES,) of the first row in begin and end
    line_count: NDArray[np.int64]  # (SHAPES,) 0 or LINES
    begin: NDArray[np.int16]  # (SHAPES * rows,) first column of a run, 0 to WINDOW_W
    end: NDArray[np.int16]  # (SHAPES * rows,) column after the last
    lines: NDArray[np.int64]  # (SHAPES, LINES, 8): START_X …, in aaline.py
    counts: NDArray[np.int64]  # (3,): SHAPE_COUNT, RUN_COUNT, BACKGROUND


class Corners(NamedTuple):
    """A shape in the making, in pixels: its corners, and where edges cross the rows."""

    x: NDArray[np.int64]  # (8,)
    y: NDArray[np.int64]  # (8,)
    left: NDArray[np.int32]  # (WINDOW_H,)
    right: NDArray[np.int32]  # (WINDOW_H,)
    crossings: NDArray[np.int64]  # (LINES,) of one row


class Band(NamedTuple):
    """The rows of the window that shrink to one row of the picture."""

    pixels: NDArray[np.int32]  # (BAND, MARGIN + WINDOW_W + MARGIN) 0x00RRGGBB
    marks: NDArray[np.uint8]  # (CELLS + 1, 16) 1 where a row of a cell may have more than one colour
    marked: NDArray[np.uint64]  # (CELLS + 1, 2) the same memory: 0 and 0 where a cell has one colour


class Canvas(NamedTuple):
    """Scratch of one picture."""

    shapes: Shapes
    corners: Corners
    band: Band


# Places in Shapes.counts
SHAPE_COUNT, RUN_COUNT, BACKGROUND = range(3)  # the last is the colour under all shapes


def allocate() -> Canvas:
    """Return a canvas with no shape on it."""
    runs = SHAPES * (WINDOW_H - FIRST_ROW)
    shapes = Shapes(
        colour=np.empty(SHAPES, np.int64),
        top=np.empty(SHAPES, np.int64),
        bottom=np.empty(SHAPES, np.int64),
        place=np.empty(SHAPES, np.int64),
        line_count=np.empty(SHAPES, np.int64),
        begin=np.empty(runs, np.int16),
        end=np.empty(runs, np.int16),
        lines=np.empty((SHAPES, LINES, 8), np.int64),
        counts=np.zeros(3, np.int64),
    )
    corners = Corners(
        x=np.zeros(8, np.int64),
        y=np.zeros(8, np.int64),
        left=np.zeros(WINDOW_H, np.int32),
        right=np.zeros(WINDOW_H, np.int32),
        crossings=np.zeros(LINES, np.int64),
    )
    pixels = np.zeros((BAND, MARGIN + WINDOW_W + MARGIN), np.int32)
    marked = np.zeros((CELLS + 1, 2), np.uint64)
    return Canvas(shapes, corners, Band(pixels, marked.view(np.uint8), marked))
