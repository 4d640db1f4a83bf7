"""The close picture: gymnasium's observation by areas, straight at 96x96, without its 1000x800 pixels.

It differs from gymnasium's by less than one level of brightness almost everywhere.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing import state
from mpi_es.envs.car_racing.picture.camera import aim
from mpi_es.envs.car_racing.picture.close import car as bodywork
from mpi_es.envs.car_racing.picture.close.car import Bodywork, paint_car
from mpi_es.envs.car_racing.picture.close.coverage import SPARE
from mpi_es.envs.car_racing.picture.close.ground import add_grass, add_void
from mpi_es.envs.car_racing.picture.close.road import add_road
from mpi_es.envs.car_racing.picture.sizes import SIDE, VIEW_ROWS
from mpi_es.jit.decorator import compiled

# smoothscale truncates twice, so that an even colour c becomes c - 2 and a mixed one loses one to two. The
# part above 1 keeps float32's rounding away from whole numbers.
LOSS = np.float32(1.03)
ONE, ZERO = np.float32(1.0), np.float32(0.0)
LANES = 4
BACKGROUND, GRASS = 1, 2  # places in World.ground


class Canvas(NamedTuple):
    """Scratch space; grass and road are all zero between two pictures."""

    car: Bodywork
    grass: NDArray[np.float32]  # (VIEW_ROWS + SPARE, 1, SIDE) coverage
    # (VIEW_ROWS + SPARE, LANES, SIDE) red, green and blue times coverage, and coverage
    road: NDArray[np.float32]
    sums: NDArray[np.float32]  # (1 + LANES, SIDE) of the rows so far: grass, then road
    shares: NDArray[np.float32]  # (2, SIDE) what one row shows of the road's colours, and of the ground
    lights: NDArray[np.float32]  # (3, SIDE) one row's colours
    levels: NDArray[np.uint8]  # (3, SIDE) the same, rounded


def allocate() -> Canvas:
    """Return the scratch space."""
    return Canvas(
        car=bodywork.allocate(),
        grass=np.zeros((VIEW_ROWS + SPARE, 1, SIDE), np.float32),
        road=np.zeros((VIEW_ROWS + SPARE, LANES, SIDE), np.float32),
        sums=np.zeros((1 + LANES, SIDE), np.float32),
        shares=np.zeros((2, SIDE), np.float32),
        lights=np.zeros((3, SIDE), np.float32),
        levels=np.zeros((3, SIDE), np.uint8),
    )


@compiled()
def draw(world: state.World, canvas: Canvas, picture: NDArray[np.uint8]) -> None:
    """Draw the first VIEW_ROWS of picture (SIDE, SIDE, 3)."""
    camera = aim(world)
    add_grass(canvas.grass, camera)
    add_void(canvas.road, camera)
    add_road(
        canvas.road, world.polygons, world.tile, world.colours, world.counts[state.POLYGON_COUNT], camera
    )
    paint_car(world.transforms, world.phase, camera, canvas.car)
    _compose(canvas, world.ground, picture)


@compiled()
def _compose(canvas: Canvas, ground: NDArray[np.uint8], picture: NDArray[np.uint8]) -> None:
    """Lay ground, road and car over one another, and clear ground and road for the next picture."""
    sums, lights = canvas.sums, canvas.lights
    sums.fill(0)
    for y in range(VIEW_ROWS):
        _advance(sums[0], canvas.grass[y, 0])
        for lane in range(LANES):
            _advance(sums[1 + lane], canvas.road[y, lane])
        _lay_road(lights, sums, canvas.shares, ground)
        if bodywork.FIRST_ROW <= y < bodywork.FIRST_ROW + bodywork.ROWS:
            _lay_car(lights, canvas.car.lights[y - bodywork.FIRST_ROW])
        _store(lights, canvas.levels, picture[y].reshape(-1))
    canvas.grass[VIEW_ROWS:].fill(ZERO)
    canvas.road[VIEW_ROWS:].fill(ZERO)


@compiled()
def _advance(sums: NDArray[np.float32], cells: NDArray[np.float32]) -> None:
    """Add a row to the sums, and clear it."""
    for x in range(SIDE):
        sums[x] += cells[x]
        cells[x] = ZERO


@compiled()
def _lay_road(
    lights: NDArray[np.float32],
    sums: NDArray[np.float32],
    shares: NDArray[np.float32],
    ground: NDArray[np.uint8],
) -> None:
    """Lay the road over grass and background in one row."""
    grass, cover, road_share, ground_share = sums[0], sums[LANES], shares[0], shares[1]
    for x in range(SIDE):
        # Where two stretches of road meet, their coverages add up to more than one.
        road_share[x] = ONE / max(cover[x], ONE)
        ground_share[x] = ONE - min(cover[x], ONE)
    for channel in range(3):
        background = np.float32(ground[BACKGROUND, channel])
        contrast = np.float32(ground[GRASS, channel]) - background
        road, light = sums[1 + channel], lights[channel]
        for x in range(SIDE):
            light[x] = road[x] * road_share[x] + (background + contrast * grass[x]) * ground_share[x]


@compiled()
def _lay_car(lights: NDArray[np.float32], car: NDArray[np.float32]) -> None:
    """Lay the car over a row. Its lanes are red, green or blue, and coverage."""
    for column in range(bodywork.COLUMNS):
        x = bodywork.FIRST_COLUMN + column
        for channel in range(3):
            light = car[min(channel, 1), column]
            lights[channel, x] = lights[channel, x] * (ONE - car[2, column]) + light


@compiled()
def _store(lights: NDArray[np.float32], levels: NDArray[np.uint8], pixels: NDArray[np.uint8]) -> None:
    """Write a row (3 * SIDE,), rounded as smoothscale does."""
    for channel in range(3):
        light, level = lights[channel], levels[channel]
        for x in range(SIDE):
            level[x] = np.int32(max(light[x] - LOSS, ZERO))
    red, green, blue = levels[0], levels[1], levels[2]
    for x in range(SIDE):  # in one loop, or it would not be vectorised
        pixels[3 * x] = red[x]
        pixels[3 * x + 1] = green[x]
        pixels[3 * x + 2] = blue[x]
