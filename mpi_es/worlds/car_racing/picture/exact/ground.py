"""The ground as in gymnasium's _render_road: the playfield, patches of grass, then the track."""

import math

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.camera import Camera, project, sight
from mpi_es.worlds.car_racing.picture.exact.aaline import outline
from mpi_es.worlds.car_racing.picture.exact.canvas import BACKGROUND, Canvas
from mpi_es.worlds.car_racing.picture.exact.filled_polygon import fill
from mpi_es.worlds.car_racing.picture.exact.runs import in_view, pack
from mpi_es.worlds.car_racing.state import GRASS_DIM, PLAYFIELD, POLYGON_COUNT, World

# Of a tile, from its first corner: gymnasium, too, skips what is farther off
REACH = GRASS_DIM * math.sqrt(2)

# Corners in gymnasium's order, which decides where lines begin
FIELD = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])  # in playfields
PATCH = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # in patches

FIELD_COLOUR, GRASS_COLOUR = 1, 2  # places in World.ground
BEYOND_COLOUR = 0  # black


@compiled()
def draw_ground(canvas: Canvas, camera: Camera, world: World) -> None:
    """Put playfield and grass on the canvas."""
    red, green, blue = world.ground[FIELD_COLOUR]
    x, y, radius = sight(camera)
    if max(abs(x), abs(y)) + radius < PLAYFIELD:
        # The field fills the view: it is the background, not a shape.
        canvas.shapes.counts[BACKGROUND] = pack(red, green, blue)
    else:
        canvas.shapes.counts[BACKGROUND] = BEYOND_COLOUR
        _draw_square(canvas, camera, FIELD, 0.0, 0.0, PLAYFIELD, pack(red, green, blue))
    _draw_grass(canvas, camera, world)


@compiled()
def _draw_grass(canvas: Canvas, camera: Camera, world: World) -> None:
    """Put the visible ones of the 20 x 20 patches on the canvas."""
    red, green, blue = world.ground[GRASS_COLOUR]
    x, y, radius = sight(camera)
    for i in range(_patch(x - radius), min(_patch(x + radius) + 2, 20), 2):
        for j in range(_patch(y - radius), min(_patch(y + radius) + 2, 20), 2):
            _draw_square(
                canvas, camera, PATCH, GRASS_DIM * i, GRASS_DIM * j, GRASS_DIM, pack(red, green, blue)
            )


@compiled()
def _patch(x: float) -> int:
    """Return the number of the patch at x or before it; they have even numbers, from -20."""
    return max(-20, math.floor(x / GRASS_DIM) // 2 * 2)


@compiled(borrowing=True)
def _draw_square(
    canvas: Canvas, camera: Camera, square: np.ndarray, x: float, y: float, size: float, colour: int
) -> None:
    """Put a square (4, 2), enlarged and moved to x and y, on the canvas."""
    for i in range(4):
        corner = project(camera, x + size * square[i, 0], y + size * square[i, 1])
        canvas.corners.x[i], canvas.corners.y[i] = corner
    _draw_corners(canvas, colour)


@compiled(borrowing=True)
def draw_track(canvas: Canvas, camera: Camera, world: World) -> None:
    """Put tiles and kerbs on the canvas."""
    centre_x, centre_y, radius = sight(camera)
    polygons, colours = world.polygons, world.colours
    for polygon in range(world.counts[POLYGON_COUNT]):
        x, y = polygons[polygon, 0, 0] - centre_x, polygons[polygon, 0, 1] - centre_y
        if x * x + y * y > (radius + REACH) ** 2:
            continue
        for i in range(4):
            x, y = polygons[polygon, i, 0], polygons[polygon, i, 1]
            canvas.corners.x[i], canvas.corners.y[i] = project(camera, x, y)
        _draw_corners(canvas, pack(colours[polygon, 0], colours[polygon, 1], colours[polygon, 2]))


@compiled(borrowing=True)
def _draw_corners(canvas: Canvas, colour: int) -> None:
    """Put the quadrilateral of the first four corners on the canvas, if it is visible."""
    if in_view(canvas.corners, 4):
        outline(canvas, fill(canvas, colour))
