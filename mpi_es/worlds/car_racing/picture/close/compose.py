"""The close picture: gymnasium's observation by areas, directly at 96x96, without its 1000x800 pixels.

It differs from gymnasium's by less than one level of brightness almost everywhere.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.bits import lowest
from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import WIDTH, load, maximum, splat, spread, store, store_bytes
from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.picture.camera import aim
from mpi_es.worlds.car_racing.picture.close import car as bodywork
from mpi_es.worlds.car_racing.picture.close import coverage
from mpi_es.worlds.car_racing.picture.close.car import Bodywork, paint_car
from mpi_es.worlds.car_racing.picture.close.coverage import GROUP, GROUPS, Cells
from mpi_es.worlds.car_racing.picture.close.ground import add_grass, add_void
from mpi_es.worlds.car_racing.picture.close.road import add_road
from mpi_es.worlds.car_racing.picture.sizes import SIDE, VIEW_ROWS

# smoothscale truncates twice, so that an even colour c becomes c - 2 and a mixed one loses one to two. The
# part above 1 keeps float32's rounding away from whole numbers.
LOSS = np.float32(1.03)
ONE, ZERO = np.float32(1.0), np.float32(0.0)
LANES = 4
ALL = (1 << GROUPS) - 1  # groups of columns
BACKGROUND, GRASS = 1, 2  # places in World.ground


class Canvas(NamedTuple):
    """Scratch space; grass and road are all zero between pictures."""

    car: Bodywork
    grass: Cells  # coverage
    road: Cells  # red, green and blue times coverage, and coverage
    grass_sums: NDArray[np.float32]  # (SIDE,) of the rows so far
    road_sums: NDArray[np.float32]  # (LANES, SIDE)
    lights: NDArray[np.float32]  # (3, SIDE) one row's colours, without the car
    tones: NDArray[np.float32]  # (3, 2) of red, green and blue: the background, and how much lighter grass is


def allocate() -> Canvas:
    """Return the scratch space."""
    return Canvas(
        car=bodywork.allocate(),
        grass=coverage.allocate(1),
        road=coverage.allocate(LANES),
        grass_sums=np.zeros(SIDE, np.float32),
        road_sums=np.zeros((LANES, SIDE), np.float32),
        lights=np.zeros((3, SIDE), np.float32),
        tones=np.zeros((3, 2), np.float32),
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
    """Lay ground, road and car over one another, and clear ground and road for the next picture.

    Most of a row equals the row above: only groups of columns with an edge are computed.
    """
    grass, road, lights = canvas.grass, canvas.road, canvas.lights
    canvas.grass_sums.fill(0)
    canvas.road_sums.fill(0)
    _measure(ground, canvas.tones)
    for y in range(VIEW_ROWS):
        if y > 0:
            _copy_row_above(picture, y)
        touched = grass.touched[y] | road.touched[y] if y > 0 else ALL
        changed = touched | (bodywork.GROUPS if bodywork.FIRST_ROW < y <= bodywork.LAST_ROW + 1 else 0)
        while changed != 0:
            group = lowest(changed)
            if touched >> group & 1:
                _advance(canvas.grass_sums, grass.areas, GROUP * group, SIDE * y)
                _advance_road(canvas.road_sums, road.areas, GROUP * group, LANES * SIDE * y)
                _lay_road(lights, canvas.grass_sums, canvas.road_sums, canvas.tones, GROUP * group)
            _store(lights, picture, y, GROUP * group)
            changed &= changed - 1
        if bodywork.FIRST_ROW <= y <= bodywork.LAST_ROW:
            _lay_car(lights, canvas.car.lights[y - bodywork.FIRST_ROW], picture[y])
    _clear(grass)
    _clear(road)


@compiled(borrowing=True)
def _measure(ground: NDArray[np.uint8], tones: NDArray[np.float32]) -> None:
    """Write the tones."""
    for channel in range(3):
        tones[channel, 0] = np.float32(ground[BACKGROUND, channel])
        tones[channel, 1] = np.float32(ground[GRASS, channel]) - np.float32(ground[BACKGROUND, channel])


@compiled()
def _clear(cells: Cells) -> None:
    """Clear the rows below the picture, and the marks of touched columns."""
    cells.areas[VIEW_ROWS:].fill(ZERO)
    cells.touched.fill(0)


@compiled(borrowing=True)
def _copy_row_above(picture: NDArray[np.uint8], y: int) -> None:
    bytes_in_row = 3 * SIDE
    for i in range(0, bytes_in_row, 4 * WIDTH):
        store(picture, bytes_in_row * y + i, load(picture, bytes_in_row * (y - 1) + i))


@compiled(borrowing=True)
def _advance(sums: NDArray[np.float32], areas: NDArray[np.float32], first: int, row: int) -> None:
    """Add a row's areas, in the group of columns from `first` on, to the sums, and clear them."""
    store(sums, first, load(sums, first) + load(areas, row + first))
    store(areas, row + first, splat(ZERO))


@compiled(borrowing=True)
def _advance_road(sums: NDArray[np.float32], areas: NDArray[np.float32], first: int, row: int) -> None:
    """Do the same in each lane."""
    for lane in range(LANES):
        _advance(sums, areas, SIDE * lane + first, row)


@compiled(borrowing=True)
def _lay_road(
    lights: NDArray[np.float32],
    grass_sums: NDArray[np.float32],
    road: NDArray[np.float32],
    tones: NDArray[np.float32],
    first: int,
) -> None:
    """Lay the road over grass and background, in the group of columns from `first` on."""
    one, grass, cover = splat(ONE), load(grass_sums, first), load(road, 3 * SIDE + first)
    # Where two stretches of road meet, their coverages add up to more than one.
    road_share, ground_share = one / maximum(cover, one), maximum(one - cover, splat(ZERO))
    for channel in range(3):
        ground = spread(tones, 2 * channel) + spread(tones, 2 * channel + 1) * grass
        place = SIDE * channel + first
        store(lights, place, load(road, place) * road_share + ground * ground_share)


@compiled(borrowing=True)
def _store(lights: NDArray[np.float32], picture: NDArray[np.uint8], y: int, first: int) -> None:
    """Write the group of columns from `first` on, rounded as smoothscale does."""
    loss, zero = splat(LOSS), splat(ZERO)
    red = maximum(load(lights, first) - loss, zero)
    green = maximum(load(lights, SIDE + first) - loss, zero)
    blue = maximum(load(lights, 2 * SIDE + first) - loss, zero)
    store_bytes(picture, 3 * (SIDE * y + first), red, green, blue)


@compiled()
def _lay_car(lights: NDArray[np.float32], car: NDArray[np.float32], row: NDArray[np.uint8]) -> None:
    """Lay the car over a row (SIDE, 3). Its lanes are red, green or blue, and coverage."""
    for column in range(bodywork.COLUMNS):
        x = bodywork.FIRST_COLUMN + column
        for channel in range(3):
            light = car[min(channel, 1), column]
            seen = lights[channel, x] * (ONE - car[2, column]) + light
            row[x, channel] = np.int32(max(seen - LOSS, ZERO))
