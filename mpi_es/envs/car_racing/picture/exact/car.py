"""The car as Car.draw has it: wheels, the white stripe that shows how each turns, and the hull over them.

pygame.draw.polygon: a row's run goes from the floor of the first crossing, in the order of the edges, to the
ceiling of the second one, both in single precision. All parts are convex.
"""

import math

import numpy as np

from mpi_es.envs.car_racing.physics.bodies import HULL, SIZE, WHEEL, WHEEL_R, WHEEL_W, stripe_ends
from mpi_es.envs.car_racing.picture.camera import Camera, project
from mpi_es.envs.car_racing.picture.exact.canvas import EACH, RED, Canvas, Corners
from mpi_es.envs.car_racing.picture.exact.runs import begin_shape, extent, in_view, visible_run
from mpi_es.envs.car_racing.state import World
from mpi_es.jit.decorator import compiled

HULL_COLOUR, WHEEL_COLOUR, STRIPE_COLOUR = range(3)  # places in COLOURS
COLOURS = np.array([int(0.8 * 255) << RED, 0, 0x4D * EACH])  # a literal would specialise what it is passed to

HULL_CORNERS = np.concatenate(HULL)
HULL_PLACES = np.cumsum([0] + [len(part) for part in HULL])  # where each part begins in it, and the end


@compiled(borrowing=True)
def draw_car(canvas: Canvas, camera: Camera, world: World) -> None:
    """Put the car on the canvas."""
    for wheel in range(1, 5):
        for i in range(4):
            _set_corner(canvas, camera, world, wheel, i, WHEEL[i, 0], WHEEL[i, 1])
        draw_polygon(canvas, COLOURS[WHEEL_COLOUR], len(WHEEL))
        _draw_stripe(canvas, camera, world, wheel)
    for part in range(len(HULL_PLACES) - 1):
        place, corners = HULL_PLACES[part], HULL_PLACES[part + 1] - HULL_PLACES[part]
        for i in range(corners):
            _set_corner(canvas, camera, world, 0, i, HULL_CORNERS[place + i, 0], HULL_CORNERS[place + i, 1])
        draw_polygon(canvas, COLOURS[HULL_COLOUR], corners)


@compiled(borrowing=True)
def _draw_stripe(canvas: Canvas, camera: Camera, world: World, wheel: int) -> None:
    """Put a wheel's stripe on the canvas, from where it begins to where it ends as seen from above."""
    seen, begin, end = stripe_ends(world.phase[wheel - 1])
    if not seen:
        return
    for i in range(4):
        x = (WHEEL_W if i in (1, 2) else -WHEEL_W) * SIZE
        y = WHEEL_R * (begin if i < 2 else end) * SIZE
        _set_corner(canvas, camera, world, wheel, i, np.float32(x), np.float32(y))
    draw_polygon(canvas, COLOURS[STRIPE_COLOUR], len(WHEEL))


@compiled(borrowing=True)
def _set_corner(
    canvas: Canvas, camera: Camera, world: World, body: int, i: int, x: np.float32, y: np.float32
) -> None:
    """Set corner i to a point of a body, which Box2D moves into the world in single precision."""
    body_x, body_y = world.transforms[body, 0], world.transforms[body, 1]
    sine, cosine = world.transforms[body, 2], world.transforms[body, 3]
    world_x = (cosine * x - sine * y) + body_x
    world_y = (sine * x + cosine * y) + body_y
    canvas.corners.x[i], canvas.corners.y[i] = project(camera, np.float64(world_x), np.float64(world_y))


@compiled(borrowing=True)
def draw_polygon(canvas: Canvas, colour: int, count: int) -> None:
    """Put the convex polygon of the first corners on the canvas."""
    if not in_view(canvas.corners, count):
        return
    shapes = canvas.shapes
    shape = begin_shape(canvas, colour, count)
    top, lowest = shapes.top[shape], extent(canvas.corners.y, count)[1]
    for y in range(top, shapes.bottom[shape] + 1):
        x1, x2 = _run(canvas.corners, count, y, lowest)
        run = shapes.place[shape] + y - top
        shapes.begin[run], shapes.end[run] = visible_run(x1, x2)


@compiled(borrowing=True)
def _run(corners: Corners, count: int, y: int, lowest: int) -> tuple[int, int]:
    """Return the first and the last column of row y, in which a flat edge is included whole."""
    begin, end, crossed = 1 << 40, -(1 << 40), 0
    for i in range(count):
        before = i - 1 if i > 0 else count - 1
        x1, y1, x2, y2 = corners.x[before], corners.y[before], corners.x[i], corners.y[i]
        if y1 > y2:
            x1, y1, x2, y2 = x2, y2, x1, y1
        if y1 == y2 == y:
            begin, end = min(begin, x1, x2), max(end, x1, x2)
        elif y1 <= y < y2 or y == y2 == lowest:
            x = x1 + _across(x1, y1, x2, y2, y, crossed)
            begin, end, crossed = min(begin, x), max(end, x), crossed + 1
    return begin, end


@compiled()
def _across(x1: int, y1: int, x2: int, y2: int, y: int, crossed: int) -> int:
    """Return how far along x an edge is at row y, rounded down for a row's first crossing, then up."""
    across = np.float32((y - y1) * (x2 - x1)) / np.float32(y2 - y1)
    return math.floor(across) if crossed % 2 == 0 else math.ceil(across)
