"""The car as in gymnasium's Car.draw: wheels, a white stripe on each that shows its turn, the hull."""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.physics.bodies import HULL, SIZE, WHEEL, WHEEL_R, WHEEL_W, stripe_ends
from mpi_es.worlds.car_racing.picture.camera import Camera, project_from_body
from mpi_es.worlds.car_racing.picture.exact.canvas import EACH, RED, Canvas
from mpi_es.worlds.car_racing.picture.exact.runs import begin_shape, in_view, visible_run
from mpi_es.worlds.car_racing.picture.pygame_polygon import find_runs, include_flat_edges
from mpi_es.worlds.car_racing.state import World

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
    """Put a wheel's stripe on the canvas, as seen from above."""
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
    """Set corner i to a point of a body."""
    corner = project_from_body(camera, world.transforms, body, x, y)
    canvas.corners.x[i], canvas.corners.y[i] = corner


@compiled(borrowing=True)
def draw_polygon(canvas: Canvas, colour: int, count: int) -> None:
    """Put the convex polygon of the first corners on the canvas."""
    if not in_view(canvas.corners, count):
        return
    corners, shapes = canvas.corners, canvas.shapes
    shape = begin_shape(canvas, colour, count)
    lowest = find_runs(corners.x, corners.y, count, corners.left, corners.right)
    include_flat_edges(corners.x, corners.y, count, lowest, corners.left, corners.right)
    for y in range(shapes.top[shape], shapes.bottom[shape] + 1):
        run = shapes.place[shape] + y - shapes.top[shape]
        first, second = int(corners.left[y - lowest]), int(corners.right[y - lowest])
        shapes.begin[run], shapes.end[run] = visible_run(first, second)
