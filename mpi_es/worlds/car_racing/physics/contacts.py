"""Which tiles the car touches: gymnasium's FrictionDetector, with a part of Box2D's broad phase.

Box2D reports where touching begins and ends. Its order does not matter, since every tile has the same reward
and the same friction; so it is enough to find in each step what touches what. (If two tiles complete a lap,
by a tiny `lap_complete_percent`, the order within the reset decides whether the race is over at once.)
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.collision.distance import distance
from mpi_es.worlds.box2d.settings import BOTH_RADII, EPSILON, F32
from mpi_es.worlds.car_racing.physics.arrays import LAP_COMPLETE_PERCENT, NEW_LAP, WHEELS, Physics
from mpi_es.worlds.car_racing.physics.bodies import FIXTURE_BODY, FIXTURE_SIZE, FIXTURE_VERTICES, FIXTURES
from mpi_es.worlds.car_racing.state import REWARD, TILE_COUNT, VISITED_COUNT, World

Floats = NDArray[np.float32]
Flags = NDArray[np.uint8]
CLEAR, TOUCHING, CLOSE = range(3)
HULL_FIXTURES = FIXTURES - WHEELS
CAR = FIXTURES  # the row of Physics.bounds around all fixtures
LOW_X, LOW_Y, HIGH_X, HIGH_Y = range(4)  # places in a box

# Polygons touch at a distance of 0.02, and float32 rounds by 3e-5 at the playfield's edge. Box2D's own boxes
# are wider (by 0.1 and more), which adds no contact: only polygons that touch count.
REACH = F32(0.05)
# Square metres (the cross product of an edge, of 3 to 14 m, and the way to a point): 7 mm and more within
CLEARLY_INSIDE = F32(0.1)


class Polygon(NamedTuple):
    """A polygon as Box2D's distance reads it."""

    corners: Floats  # (…, 2)
    size: int  # their number


@compiled()
def touch(world: World, physics: Physics) -> None:
    """Find what the car touches; set the wheels' grip, the tiles' colours, the visits and the rewards."""
    _place_car(world.transforms, physics.corners, physics.bounds)
    physics.on_road[:] = 0
    for i in range(_find_near(physics.boxes, physics.bounds, physics.near, world.counts[TILE_COUNT])):
        tile = physics.near[i]
        for fixture in range(FIXTURES):
            wheel = fixture - HULL_FIXTURES
            if not _matters(physics.touched[tile], world.visited[tile], physics.on_road, wheel):
                continue
            verdict = _judge(
                physics.boxes, physics.bounds, physics.vertices, physics.sizes, physics.corners, tile, fixture
            )
            if verdict == CLOSE:
                verdict = TOUCHING if touches(world, physics, tile, fixture) else CLEAR
            if verdict == CLEAR:
                continue
            if wheel >= 0:
                physics.on_road[wheel] = 1
            if not (physics.touched[tile] and world.visited[tile]):
                _begin_contact(world, physics, tile, wheel)


@compiled()
def _matters(touched: np.uint8, visited: np.uint8, on_road: Flags, wheel: int) -> bool:
    """Return whether touching a tile would change anything: its colour, or a wheel's grip or visit.

    Args:
        wheel: a wheel, or a number below 0 for the hull, which only colours tiles.
    """
    return bool(touched == 0 if wheel < 0 else visited == 0 or on_road[wheel] == 0)


@compiled()
def _place_car(transforms: Floats, corners: Floats, bounds: Floats) -> None:
    """Find the car's polygons in the world, in float32 like Box2D, and boxes around all that they reach."""
    for fixture in range(FIXTURES):
        body = FIXTURE_BODY[fixture]
        x, y, sine, cosine = (
            transforms[body, 0],
            transforms[body, 1],
            transforms[body, 2],
            transforms[body, 3],
        )
        low_x = low_y = F32(np.inf)
        high_x = high_y = F32(-np.inf)
        for i in range(FIXTURE_SIZE[fixture]):
            across, along = FIXTURE_VERTICES[fixture, i, 0], FIXTURE_VERTICES[fixture, i, 1]
            corner_x = (cosine * across - sine * along) + x
            corner_y = (sine * across + cosine * along) + y
            corners[fixture, i, 0], corners[fixture, i, 1] = corner_x, corner_y
            low_x, high_x = min(low_x, corner_x), max(high_x, corner_x)
            low_y, high_y = min(low_y, corner_y), max(high_y, corner_y)
        bounds[fixture, LOW_X], bounds[fixture, HIGH_X] = low_x - REACH, high_x + REACH
        bounds[fixture, LOW_Y], bounds[fixture, HIGH_Y] = low_y - REACH, high_y + REACH
        if fixture == 0:
            bounds[CAR, LOW_X], bounds[CAR, HIGH_X] = bounds[0, LOW_X], bounds[0, HIGH_X]
            bounds[CAR, LOW_Y], bounds[CAR, HIGH_Y] = bounds[0, LOW_Y], bounds[0, HIGH_Y]
        for axis in range(2):
            bounds[CAR, axis] = min(bounds[CAR, axis], bounds[fixture, axis])
            bounds[CAR, 2 + axis] = max(bounds[CAR, 2 + axis], bounds[fixture, 2 + axis])


@compiled()
def _find_near(boxes: Floats, bounds: Floats, near: NDArray[np.int32], tiles: int) -> int:
    """List the tiles whose boxes meet the car's; return their number."""
    low_x, low_y = bounds[CAR, LOW_X], bounds[CAR, LOW_Y]
    high_x, high_y, count = bounds[CAR, HIGH_X], bounds[CAR, HIGH_Y], 0
    for tile in range(tiles):
        near[count] = tile  # overwritten by the next if it is not near: no jump to mispredict
        across = (boxes[LOW_X, tile] <= high_x) & (boxes[HIGH_X, tile] >= low_x)
        count += across & (boxes[LOW_Y, tile] <= high_y) & (boxes[HIGH_Y, tile] >= low_y)
    return count


@compiled()
def _judge(
    boxes: Floats,
    bounds: Floats,
    vertices: Floats,
    sizes: NDArray[np.int32],
    corners: Floats,
    tile: int,
    fixture: int,
) -> int:
    """Return whether a part of the car is clear of a tile, touches it, or is too close to say."""
    if not _boxes_meet(boxes, tile, bounds, fixture) or _is_clear(
        vertices, sizes[tile], tile, corners, fixture
    ):
        return CLEAR
    return TOUCHING if _has_corner_inside(vertices, sizes[tile], tile, corners, fixture) else CLOSE


@compiled()
def _boxes_meet(boxes: Floats, tile: int, bounds: Floats, fixture: int) -> bool:
    """Return whether the boxes of a tile and of a part of the car meet."""
    across = boxes[LOW_X, tile] <= bounds[fixture, HIGH_X] and boxes[HIGH_X, tile] >= bounds[fixture, LOW_X]
    along = boxes[LOW_Y, tile] <= bounds[fixture, HIGH_Y] and boxes[HIGH_Y, tile] >= bounds[fixture, LOW_Y]
    return bool(across and along)


@compiled()
def _is_clear(vertices: Floats, size: int, tile: int, corners: Floats, fixture: int) -> bool:
    """Return whether an edge of the tile separates it from the whole polygon, beyond reach."""
    for i in range(size):
        start_x, start_y = vertices[tile, i, 0], vertices[tile, i, 1]
        following = i + 1 if i + 1 < size else 0
        e_x, e_y = vertices[tile, following, 0] - start_x, vertices[tile, following, 1] - start_y
        most = F32(-np.inf)
        for j in range(FIXTURE_SIZE[fixture]):
            cross = e_x * (corners[fixture, j, 1] - start_y) - e_y * (corners[fixture, j, 0] - start_x)
            most = max(most, cross)
        if most < 0 and most * most > REACH * REACH * (e_x * e_x + e_y * e_y):
            return True
    return False


@compiled()
def _has_corner_inside(vertices: Floats, size: int, tile: int, corners: Floats, fixture: int) -> bool:
    """Return whether a corner of a part of the car is inside the tile by more than any rounding."""
    for j in range(FIXTURE_SIZE[fixture]):
        x, y, least = corners[fixture, j, 0], corners[fixture, j, 1], F32(np.inf)
        start_x, start_y = vertices[tile, size - 1, 0], vertices[tile, size - 1, 1]
        for i in range(size):
            end_x, end_y = vertices[tile, i, 0], vertices[tile, i, 1]
            cross = (end_x - start_x) * (y - start_y) - (end_y - start_y) * (x - start_x)
            least = min(least, cross)
            start_x, start_y = end_x, end_y
        if least > CLEARLY_INSIDE:
            return True
    return False


@compiled()
def touches(world: World, physics: Physics, tile: int, fixture: int) -> bool:
    """Return whether a tile and a part of the car touch by Box2D's own arithmetic: b2TestOverlap."""
    x, y, sine, cosine = world.transforms[FIXTURE_BODY[fixture]]
    simplex = physics.simplex[0]
    simplex.size = 0
    road = Polygon(physics.vertices[tile], physics.sizes[tile])
    part = Polygon(FIXTURE_VERTICES[fixture], FIXTURE_SIZE[fixture])
    gap = distance(simplex, road, part, (sine, cosine, x, y))
    return bool(gap - BOTH_RADII < F32(10) * EPSILON)


@compiled()
def _begin_contact(world: World, physics: Physics, tile: int, wheel: int) -> None:
    """Colour a tile, and reward the wheel that visits it first: gymnasium's FrictionDetector._contact.

    Args:
        wheel: a wheel, or a number below 0 for the hull, which has no tiles.
    """
    physics.touched[tile] = 1
    for channel in range(3):
        world.colours[physics.polygon[tile], channel] = int(physics.road_colour[channel])
    if wheel < 0 or world.visited[tile]:
        return
    world.visited[tile] = 1
    world.counts[VISITED_COUNT] += 1
    world.clock[REWARD] += 1000.0 / world.counts[TILE_COUNT]
    share = world.counts[VISITED_COUNT] / world.counts[TILE_COUNT]
    if tile == 0 and share > physics.lap[LAP_COMPLETE_PERCENT]:
        physics.lap[NEW_LAP] = 1.0
