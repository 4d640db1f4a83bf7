"""Draw the same as gymnasium's _render, band by band, and shrink only cells with more than one colour."""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.camera import aim
from mpi_es.worlds.car_racing.picture.exact.aaline import paint_lines
from mpi_es.worlds.car_racing.picture.exact.band import paint_runs, wipe
from mpi_es.worlds.car_racing.picture.exact.canvas import (
    BACKGROUND,
    SHAPE_COUNT,
    Band,
    Canvas,
    Shapes,
)
from mpi_es.worlds.car_racing.picture.exact.car import draw_car
from mpi_es.worlds.car_racing.picture.exact.ground import draw_ground, draw_track
from mpi_es.worlds.car_racing.picture.exact.shrink import rows_of, shrink
from mpi_es.worlds.car_racing.picture.sizes import VIEW_ROWS
from mpi_es.worlds.car_racing.state import World


@compiled()
def draw(world: World, canvas: Canvas, picture: np.ndarray) -> None:
    """Fill the first VIEW_ROWS of picture, uint8 (SIDE, SIDE, 3)."""
    view = aim(world)
    canvas.shapes.counts[:] = 0
    draw_ground(canvas, view, world)
    draw_track(canvas, view, world)
    draw_car(canvas, view, world)
    paint_bands(canvas.band, canvas.shapes, picture)


@compiled(borrowing=True)
def paint_bands(band: Band, shapes: Shapes, picture: np.ndarray) -> None:
    """Fill the picture from the shapes."""
    for i in range(VIEW_ROWS):
        first, last = rows_of(i)
        paint(band, shapes, first, last)
        shrink(band, i, last - first + 1, picture)


@compiled(borrowing=True)
def paint(band: Band, shapes: Shapes, first: int, last: int) -> None:
    """Paint the shapes in their order on the band of the window's rows first to last.

    Lines come after the run that they surround, not before as in gymnasium: where a run covers them they have
    its colour already, and change nothing.
    """
    wipe(band, shapes.counts[BACKGROUND])
    for shape in range(shapes.counts[SHAPE_COUNT]):
        if shapes.top[shape] <= last and shapes.bottom[shape] >= first:
            paint_runs(band, shapes, shape, first, last)
            paint_lines(band, shapes, shape, first, last)
