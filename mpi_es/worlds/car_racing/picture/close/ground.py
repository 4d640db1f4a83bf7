"""The ground next to the road: squares of grass on the playfield, and the black beyond it."""

import math

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.camera import Camera, sight
from mpi_es.worlds.car_racing.picture.close.coverage import Cells, add_edge
from mpi_es.worlds.car_racing.picture.close.pygame_outlines import add_rectangle
from mpi_es.worlds.car_racing.picture.sizes import SIDE
from mpi_es.worlds.car_racing.state import GRASS_DIM, PLAYFIELD

NIL, UNIT = np.float32(0.0), np.float32(1.0)
COVER = (UNIT,)
BLACK, NO_BLACK = (NIL, NIL, NIL, UNIT), (NIL, NIL, NIL, -UNIT)


@compiled()
def add_grass(cells: Cells, camera: Camera) -> None:
    """Add the coverage of gymnasium's 20 x 20 squares of grass to the cells, of one weight."""
    x, y, radius = sight(camera)
    reach = radius + GRASS_DIM
    first_i, last_i = _squares(x - reach, x + reach)
    first_j, last_j = _squares(y - reach, y + reach)
    for i in range(first_i, last_i + 1):
        for j in range(first_j, last_j + 1):
            left, bottom = 2 * GRASS_DIM * i, 2 * GRASS_DIM * j
            if math.hypot(left + GRASS_DIM / 2 - x, bottom + GRASS_DIM / 2 - y) < reach:
                add_rectangle(cells, camera, left, bottom, left + GRASS_DIM, bottom + GRASS_DIM, COVER)


@compiled()
def _squares(low: float, high: float) -> tuple[int, int]:
    """Return the first and last of the squares -10 to 9 that may reach into an interval."""
    pitch = 2 * GRASS_DIM
    return max(math.floor(low / pitch), -10), min(math.ceil(high / pitch), 9)


@compiled()
def add_void(cells: Cells, camera: Camera) -> None:
    """Add the black around the playfield to the cells, of four weights, if any is in view."""
    x, y, radius = sight(camera)
    if max(abs(x), abs(y)) + radius < PLAYFIELD:
        return
    add_edge(cells, NIL, NIL, np.float32(SIDE), NIL, BLACK)
    add_rectangle(cells, camera, -PLAYFIELD, -PLAYFIELD, PLAYFIELD, PLAYFIELD, NO_BLACK)
