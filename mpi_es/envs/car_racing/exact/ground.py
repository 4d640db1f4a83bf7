"""The ground as gymnasium's _render_road has it: the playfield, patches of grass, then the track."""

import math

from mpi_es.envs.car_racing.exact.aaline import outline
from mpi_es.envs.car_racing.exact.camera import Camera, project, sight
from mpi_es.envs.car_racing.exact.canvas import Canvas
from mpi_es.envs.car_racing.exact.filled_polygon import fill
from mpi_es.envs.car_racing.exact.shapes import in_view, pack
from mpi_es.envs.car_racing.state import POLYGON_COUNT, World
from mpi_es.jit import compiled

PLAYFIELD = 2000 / 6.0
GRASS_DIM = PLAYFIELD / 20.0
REACH = GRASS_DIM * math.sqrt(2)  # of a shape from its first corner: gymnasium skips what is farther off as well

BACKGROUND, GRASS = 1, 2  # places in World.ground


@compiled()
def draw_ground(canvas: Canvas, camera: Camera, world: World) -> None:
    """Put playfield and patches on the canvas."""
    ground = world.ground
    field = ((PLAYFIELD, PLAYFIELD), (PLAYFIELD, -PLAYFIELD), (-PLAYFIELD, -PLAYFIELD), (-PLAYFIELD, PLAYFIELD))
    for i in range(4):
        canvas.corners.x[i], canvas.corners.y[i] = project(camera, field[i][0], field[i][1])
    _draw_corners(canvas, pack(ground[BACKGROUND, 0], ground[BACKGROUND, 1], ground[BACKGROUND, 2]))
    colour = pack(ground[GRASS, 0], ground[GRASS, 1], ground[GRASS, 2])
    centre_x, centre_y, radius = sight(camera)
    for x in range(_first_patch(centre_x - radius), min(20, math.ceil((centre_x + radius) / GRASS_DIM)), 2):
        for y in range(_first_patch(centre_y - radius), min(20, math.ceil((centre_y + radius) / GRASS_DIM)), 2):
            _draw_patch(canvas, camera, x, y, colour)


@compiled()
def _first_patch(begin: float) -> int:
    """Return the even number, from -20, of the first patch that reaches beyond begin along one axis."""
    return max(-20, math.floor(begin / GRASS_DIM) // 2 * 2)


@compiled()
def _draw_patch(canvas: Canvas, camera: Camera, x: int, y: int, colour: int) -> None:
    canvas.corners.x[0], canvas.corners.y[0] = project(camera, GRASS_DIM * x + GRASS_DIM, GRASS_DIM * y + 0)
    canvas.corners.x[1], canvas.corners.y[1] = project(camera, GRASS_DIM * x + 0, GRASS_DIM * y + 0)
    canvas.corners.x[2], canvas.corners.y[2] = project(camera, GRASS_DIM * x + 0, GRASS_DIM * y + GRASS_DIM)
    canvas.corners.x[3], canvas.corners.y[3] = project(camera, GRASS_DIM * x + GRASS_DIM, GRASS_DIM * y + GRASS_DIM)
    _draw_corners(canvas, colour)


@compiled()
def draw_track(canvas: Canvas, camera: Camera, world: World) -> None:
    """Put tiles and kerbs on the canvas."""
    centre_x, centre_y, radius = sight(camera)
    reach = (radius + REACH) ** 2
    for polygon in range(world.counts[POLYGON_COUNT]):
        x, y = world.polygons[polygon, 0]
        if (x - centre_x) ** 2 + (y - centre_y) ** 2 > reach:
            continue
        for i in range(4):
            x, y = world.polygons[polygon, i]
            canvas.corners.x[i], canvas.corners.y[i] = project(camera, x, y)
        red, green, blue = world.colours[polygon]
        _draw_corners(canvas, pack(red, green, blue))


@compiled()
def _draw_corners(canvas: Canvas, colour: int) -> None:
    """Put the quadrilateral of the first four corners on the canvas, if it can be seen."""
    if in_view(canvas.corners, 4):
        outline(canvas, fill(canvas, colour))
