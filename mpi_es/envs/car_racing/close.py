"""The close picture: gymnasium's observation by areas, straight at 96x96, without its 1000x800 pixels.

It differs from gymnasium's by less than one level of brightness almost everywhere. The panel is exact.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing import bodywork, panel, state
from mpi_es.envs.car_racing.bodywork import Bodywork, paint_car
from mpi_es.envs.car_racing.camera import aim
from mpi_es.envs.car_racing.coverage import COLUMNS, ROWS, SPARE
from mpi_es.envs.car_racing.panel import Panel, draw_panel
from mpi_es.envs.car_racing.road import add_road
from mpi_es.envs.car_racing.scenery import add_grass, add_void
from mpi_es.jit import compiled

# smoothscale truncates twice, so that an even colour c comes out as c - 2 and a mixed one by one to two less;
# what is above 1 keeps the rounding of float32 away from whole numbers.
LOSS = np.float32(1.03)
ONE, ZERO = np.float32(1.0), np.float32(0.0)
RED, GREEN, BLUE, COVER = range(4)
LANES = 4
_ROAD, BACKGROUND, GRASS = range(3)  # places in World.ground


class Canvas(NamedTuple):
    """Scratch space; cells are all zero between two pictures."""

    panel: Panel
    car: Bodywork
    grass: NDArray[np.float32]  # (ROWS + SPARE, COLUMNS, 1) coverage
    road: NDArray[np.float32]  # (ROWS + SPARE, COLUMNS, LANES) red, green and blue times coverage, and coverage
    grass_sum: NDArray[np.float32]  # (COLUMNS,) of the rows so far
    road_sum: NDArray[np.float32]  # (COLUMNS * LANES,)
    row: NDArray[np.float32]  # (3, COLUMNS) one row's colours


def allocate() -> Canvas:
    """Return the scratch space."""
    return Canvas(
        panel=panel.allocate(),
        car=bodywork.allocate(),
        grass=np.zeros((ROWS + SPARE, COLUMNS, 1), np.float32),
        road=np.zeros((ROWS + SPARE, COLUMNS, LANES), np.float32),
        grass_sum=np.zeros(COLUMNS, np.float32),
        road_sum=np.zeros(COLUMNS * LANES, np.float32),
        row=np.zeros((3, COLUMNS), np.float32),
    )


@compiled()
def draw(world: state.World, canvas: Canvas, picture: NDArray[np.uint8]) -> None:
    """Draw the observation into picture (96, 96, 3)."""
    camera = aim(world)
    add_grass(canvas.grass, camera)
    add_void(canvas.road, camera)
    add_road(canvas.road, world, camera)
    paint_car(world, camera, canvas.car)
    canvas.grass_sum[:] = 0
    canvas.road_sum[:] = 0
    for y in range(ROWS):
        _advance(canvas.grass[y].reshape(-1), canvas.grass_sum)
        _advance(canvas.road[y].reshape(-1), canvas.road_sum)
        _colour(canvas, world.ground)
        if bodywork.FIRST_ROW <= y < bodywork.FIRST_ROW + bodywork.ROWS:
            _cover_by_car(canvas.row, canvas.car.lights[y - bodywork.FIRST_ROW])
        _store(canvas.row, picture[y])
    canvas.grass[ROWS:] = 0
    canvas.road[ROWS:] = 0
    draw_panel(world, canvas.panel, picture)


@compiled()
def _advance(cells: NDArray[np.float32], sums: NDArray[np.float32]) -> None:
    """Add a row to the sums, and clear it for the next picture."""
    for i in range(len(sums)):
        sums[i] += cells[i]
        cells[i] = ZERO


@compiled()
def _colour(canvas: Canvas, ground: NDArray[np.uint8]) -> None:
    """Lay the road over grass and background, in one row."""
    sums = canvas.road_sum
    for channel in range(3):
        background = np.float32(ground[BACKGROUND, channel])
        contrast = np.float32(ground[GRASS, channel]) - background
        for x in range(COLUMNS):
            cover = sums[LANES * x + COVER]
            # Where two stretches of road meet, their coverages add up to more than one.
            road = sums[LANES * x + channel] / max(cover, ONE)
            below = background + contrast * canvas.grass_sum[x]
            canvas.row[channel, x] = road + below * (ONE - min(cover, ONE))


@compiled()
def _cover_by_car(row: NDArray[np.float32], lights: NDArray[np.float32]) -> None:
    """Lay the car over a row."""
    for column in range(bodywork.COLUMNS):
        x = bodywork.FIRST_COLUMN + column
        left = ONE - lights[column, 2]
        row[RED, x] = row[RED, x] * left + lights[column, 0]
        row[GREEN, x] = row[GREEN, x] * left + lights[column, 1]
        row[BLUE, x] = row[BLUE, x] * left + lights[column, 1]


@compiled()
def _store(row: NDArray[np.float32], pixels: NDArray[np.uint8]) -> None:
    """Write a row, rounded as smoothscale does."""
    for x in range(COLUMNS):
        for channel in range(3):
            pixels[x, channel] = np.uint8(max(row[channel, x] - LOSS, ZERO))
