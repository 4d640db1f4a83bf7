"""The arrays of a picture: the shapes in view, as runs of pixels, and a band of the window."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.worlds.car_racing.picture.sizes import PANEL_LINES, SIDE, WINDOW_H
from mpi_es.worlds.car_racing.state import TILES

BAND = 10  # the most rows of the window that have a share in one row of the picture
STRIDE = 1024  # places from one of its rows to the next

# A colour is red, green and blue, 21 bits apart: a sum over a cell's row, and a pixel's share, are sums and
# products of whole colours
RED, GREEN = 42, 21
EACH = 1 << RED | 1 << GREEN | 1  # one of each

# The playfield, 400 patches of grass and the track, where a crooked one takes two places; the car's four
# wheels with a white stripe each, and its hull of four parts.
SHAPES = 2 * (401 + 2 * TILES) + 12
LINES = 4  # around a shape


class Shapes(NamedTuple):
    """What is in view, in the order of drawing.

    A shape is a run of pixels on each of its rows, maybe an empty one, and antialiased lines around them. Of
    these tables only the beginning is ever used.
    """

    colour: NDArray[np.int64]  # (SHAPES,)
    top: NDArray[np.int64]  # (SHAPES + 1,) first row, of the window not yet flipped; WINDOW_H after the last
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

    changes: NDArray[np.int64]  # (BAND * STRIDE / 64,) a bit for each place
    colours: NDArray[np.int64]  # (BAND * STRIDE,) of the places that have a bit
    # (BAND + 1, SIDE + 4) of the rows, shrunk in x, and of the last band's first one
    means: NDArray[np.int64]
    sums: NDArray[np.int64]  # (SIDE,) of the means of whole rows


class Canvas(NamedTuple):
    """Scratch of one picture."""

    shapes: Shapes
    corners: Corners
    band: Band


# Places in Shapes.counts
SHAPE_COUNT, RUN_COUNT, BACKGROUND = range(3)  # the last is the colour under all shapes


def allocate() -> Canvas:
    """Return a canvas with no shape on it."""
    runs = SHAPES * (WINDOW_H - PANEL_LINES)
    shapes = Shapes(
        colour=np.empty(SHAPES, np.int64),
        top=np.empty(SHAPES + 1, np.int64),
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
    band = Band(
        changes=np.zeros(BAND * STRIDE // 64, np.int64),
        colours=np.zeros(BAND * STRIDE, np.int64),
        means=np.zeros((BAND + 1, SIDE + 4), np.int64),
        sums=np.zeros(SIDE, np.int64),
    )
    return Canvas(shapes, corners, band)
