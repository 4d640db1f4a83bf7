"""Draw what gymnasium's _render draws, but band by band, and of a band only the cells with more than one colour."""

import numpy as np

from mpi_es.envs.car_racing.exact.aaline import paint_line
from mpi_es.envs.car_racing.exact.band import paint_runs, wipe
from mpi_es.envs.car_racing.exact.camera import camera
from mpi_es.envs.car_racing.exact.canvas import PICTURE_ROWS, SHAPE_COUNT, Canvas
from mpi_es.envs.car_racing.exact.car import draw_car
from mpi_es.envs.car_racing.exact.ground import draw_ground, draw_track
from mpi_es.envs.car_racing.exact.shapes import clear
from mpi_es.envs.car_racing.exact.smoothscale import rows_of, shrink
from mpi_es.envs.car_racing.state import World
from mpi_es.jit import compiled

BLACK = 0


@compiled()
def draw(world: World, canvas: Canvas, picture: np.ndarray) -> None:
    """Fill rows 0 to 83 of picture, uint8 (96, 96, 3)."""
    view = camera(world)
    clear(canvas)
    draw_ground(canvas, view, world)
    draw_track(canvas, view, world)
    draw_car(canvas, view, world)
    for i in range(PICTURE_ROWS):
        first, last = rows_of(i)
        wipe(canvas, BLACK)
        _paint(canvas, first, last)
        shrink(canvas, i, picture)


@compiled()
def _paint(canvas: Canvas, first: int, last: int) -> None:
    """Paint the shapes in their order on the band of the window's rows first to last.

    Lines come after the run that they surround, not before as in gymnasium: where a run covers them they have its
    colour already, and change nothing.
    """
    for shape in range(canvas.counts[SHAPE_COUNT]):
        if canvas.top[shape] <= last and canvas.bottom[shape] >= first:
            paint_runs(canvas, shape, first, last)
            for i in range(canvas.line_count[shape]):
                paint_line(canvas, canvas.lines[shape, i], canvas.colour[shape], first, last)
