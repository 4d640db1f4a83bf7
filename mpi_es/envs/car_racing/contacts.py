"""Which tiles the car touches: gymnasium's FrictionDetector, and what of Box2D's broad phase it needs.

Box2D reports where touching begins and ends. Its order does not matter, for every tile has the same reward and
the same friction; so it is enough to find, each step, what touches what.
"""

import numpy as np

from mpi_es.envs.car_racing.overlap import touches
from mpi_es.envs.car_racing.physics import LAP_COMPLETE_PERCENT, NEW_LAP, WHEELS, Physics
from mpi_es.envs.car_racing.shapes import FIXTURE_BODY, FIXTURE_SIZE, FIXTURE_VERTICES, FIXTURES
from mpi_es.envs.car_racing.state import REWARD, TILE_COUNT, VISITED_COUNT, World
from mpi_es.jit import compiled

F32 = np.float32
HULL_FIXTURES = FIXTURES - WHEELS
CAR = FIXTURES  # the row of Physics.bounds around all fixtures
LOW_X, LOW_Y, HIGH_X, HIGH_Y = range(4)  # places in a box

# Polygons touch at a distance of 0.02, and float32 rounds by 3e-5 at the playfield's edge. Box2D's own boxes are
# wider (by 0.1 and more), which adds no contact: only polygons that touch count.
REACH = F32(0.05)
# Square metres (the cross product of an edge, of 3 to 14 m, and the way to a point): 7 mm and more within
CLEARLY_INSIDE = F32(0.1)


@compiled()
def touch(world: World, physics: Physics) -> None:
    """Find what the car touches where it is: the wheels' grip, the tiles' colours, the visits and rewards."""
    for fixture in range(FIXTURES):
        _place(world, physics, fixture)
    _bound_car(physics)
    physics.on_road[:] = 0
    for i in range(_find_near(physics, world.counts[TILE_COUNT])):
        tile = physics.near[i]
        for wheel in range(WHEELS):
            settled = physics.on_road[wheel] and world.visited[tile]  # touching would change nothing
            if not settled and _rolls_on(world, physics, tile, wheel):
                physics.on_road[wheel] = 1
                _visit(world, physics, tile)
        if not physics.touched[tile] and _is_under_hull(world, physics, tile):
            _colour(world, physics, tile)


@compiled()
def _place(world: World, physics: Physics, fixture: int) -> None:
    """Find a part of the car in the world, its corners in float32 as Box2D, and a box around all that it reaches."""
    transform, bounds = world.transforms[FIXTURE_BODY[fixture]], physics.bounds[fixture]
    x, y, sine, cosine = transform[0], transform[1], transform[2], transform[3]
    bounds[LOW_X], bounds[LOW_Y], bounds[HIGH_X], bounds[HIGH_Y] = x, y, x, y
    for i in range(FIXTURE_SIZE[fixture]):
        across, along = FIXTURE_VERTICES[fixture, i, 0], FIXTURE_VERTICES[fixture, i, 1]
        corner_x = (cosine * across - sine * along) + x
        corner_y = (sine * across + cosine * along) + y
        physics.corners[fixture, i, 0], physics.corners[fixture, i, 1] = corner_x, corner_y
        bounds[LOW_X], bounds[HIGH_X] = min(bounds[LOW_X], corner_x), max(bounds[HIGH_X], corner_x)
        bounds[LOW_Y], bounds[HIGH_Y] = min(bounds[LOW_Y], corner_y), max(bounds[HIGH_Y], corner_y)
    bounds[LOW_X] -= REACH
    bounds[LOW_Y] -= REACH
    bounds[HIGH_X] += REACH
    bounds[HIGH_Y] += REACH


@compiled()
def _bound_car(physics: Physics) -> None:
    """Find the box around the boxes of all fixtures."""
    car = physics.bounds[CAR]
    car[:] = physics.bounds[0]
    for fixture in range(1, FIXTURES):
        for axis in range(2):
            car[axis] = min(car[axis], physics.bounds[fixture, axis])
            car[2 + axis] = max(car[2 + axis], physics.bounds[fixture, 2 + axis])


@compiled()
def _find_near(physics: Physics, tiles: int) -> int:
    """List the tiles whose boxes meet the car's; return their number."""
    boxes, car, count = physics.boxes, physics.bounds[CAR], 0
    for tile in range(tiles):
        physics.near[count] = tile  # overwritten by the next if it is not near: no jump to mispredict
        count += (
            (boxes[LOW_X, tile] <= car[HIGH_X])
            & (boxes[HIGH_X, tile] >= car[LOW_X])
            & (boxes[LOW_Y, tile] <= car[HIGH_Y])
            & (boxes[HIGH_Y, tile] >= car[LOW_Y])
        )
    return count


@compiled()
def _meets(physics: Physics, tile: int, fixture: int) -> bool:
    """Return whether the boxes of a tile and of a part of the car meet."""
    boxes, bounds = physics.boxes, physics.bounds[fixture]
    across = boxes[LOW_X, tile] <= bounds[HIGH_X] and boxes[HIGH_X, tile] >= bounds[LOW_X]
    return across and boxes[LOW_Y, tile] <= bounds[HIGH_Y] and boxes[HIGH_Y, tile] >= bounds[LOW_Y]


@compiled()
def _rolls_on(world: World, physics: Physics, tile: int, wheel: int) -> bool:
    """Return whether a wheel touches a tile; most often its middle is well inside."""
    fixture = HULL_FIXTURES + wheel
    if not _meets(physics, tile, fixture):
        return False
    x, y = world.transforms[wheel + 1, 0], world.transforms[wheel + 1, 1]
    return _is_inside(physics, tile, x, y) or touches(world, physics, tile, fixture)


@compiled()
def _is_inside(physics: Physics, tile: int, x: np.float32, y: np.float32) -> bool:
    """Return whether a point is so far within a tile that no rounding can tell otherwise."""
    vertices, size = physics.vertices[tile], physics.sizes[tile]
    before_x, before_y = vertices[size - 1, 0], vertices[size - 1, 1]
    for i in range(size):
        here_x, here_y = vertices[i, 0], vertices[i, 1]
        cross = (here_x - before_x) * (y - before_y) - (here_y - before_y) * (x - before_x)
        if cross < CLEARLY_INSIDE:
            return False
        before_x, before_y = here_x, here_y
    return True


@compiled()
def _is_under_hull(world: World, physics: Physics, tile: int) -> bool:
    """Return whether the hull touches a tile, which gives it no reward but its colour."""
    for fixture in range(HULL_FIXTURES):
        if _meets(physics, tile, fixture) and touches(world, physics, tile, fixture):
            return True
    return False


@compiled()
def _visit(world: World, physics: Physics, tile: int) -> None:
    """Reward a wheel's first touch of a tile."""
    _colour(world, physics, tile)
    if world.visited[tile]:
        return
    world.visited[tile] = 1
    world.counts[VISITED_COUNT] += 1
    world.clock[REWARD] += 1000.0 / world.counts[TILE_COUNT]
    share = world.counts[VISITED_COUNT] / world.counts[TILE_COUNT]
    if tile == 0 and share > physics.lap[LAP_COMPLETE_PERCENT]:
        physics.lap[NEW_LAP] = 1.0


@compiled()
def _colour(world: World, physics: Physics, tile: int) -> None:
    """Give a tile the plain colour of the road, as any touch does."""
    if physics.touched[tile]:
        return
    physics.touched[tile] = 1
    for channel in range(3):
        world.colours[physics.polygon[tile], channel] = int(physics.road_colour[channel])
