"""The road as sums of colours: tiles whose coverages add up to one where they meet, and their kerbs."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.camera import Camera, look
from mpi_es.worlds.car_racing.picture.close.coverage import Cells, Weights, add_edge
from mpi_es.worlds.car_racing.picture.close.pygame_outlines import fatness, see
from mpi_es.worlds.car_racing.picture.sizes import PANEL_LINES, WINDOW_H, WINDOW_W

REACH = 16.0  # more than the diagonal of the largest tile, 14 on the outside of a bend
NONE: Any = np.int64(-1)  # no polygon; numba would compile each function that gets a literal twice
FRONT_LEFT, FRONT_RIGHT, BACK_RIGHT, BACK_LEFT = range(4)  # corners of a tile in road_poly
Point = tuple[np.float32, np.float32]


@compiled()
def add_road(
    cells: Cells,
    polygons: NDArray[np.float64],
    tile: NDArray[np.int32],
    colours: NDArray[np.uint8],
    count: int,
    camera: Camera,
) -> None:
    """Add the tiles and kerbs in view to the cells: red, green, blue and coverage."""
    margin = REACH * camera.zoom
    previous = NONE  # the polygon of the tile before, if that is in view
    for i in range(count):
        x, y = look(camera, polygons[i, 0, 0], polygons[i, 0, 1])
        if not (-margin < x < WINDOW_W + margin and PANEL_LINES - margin < y < WINDOW_H + margin):
            continue
        colour = _colour(colours[i])
        if tile[i] < 0:
            _add_kerb(cells, camera, polygons[i], colour, _colour(colours[i - 1]))
            continue
        if previous != NONE and tile[previous] != tile[i] - 1:
            _add_front(cells, camera, polygons[previous], _colour(colours[previous]))
            previous = NONE
        _add_sides(cells, camera, polygons[i], colour)
        _add_back(
            cells,
            camera,
            polygons[i],
            colour if previous == NONE else _minus(colour, _colour(colours[previous])),
        )
        previous = i
    if previous != NONE:
        _add_front(cells, camera, polygons[previous], _colour(colours[previous]))


@compiled()
def _colour(c: NDArray[np.uint8]) -> Weights:
    """Return a polygon's colour and its coverage of one."""
    return np.float32(c[0]), np.float32(c[1]), np.float32(c[2]), np.float32(1.0)


@compiled()
def _minus(a: Weights, b: Weights) -> Weights:
    """Return the difference of colours."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]


@compiled()
def _add_sides(cells: Cells, camera: Camera, corners: NDArray[np.float64], colour: Weights) -> None:
    """Add a tile's edges along the road."""
    x0, y0 = _node(camera, corners[FRONT_LEFT], corners[FRONT_RIGHT], 1.0)
    x1, y1 = _node(camera, corners[FRONT_RIGHT], corners[FRONT_LEFT], -1.0)
    x2, y2 = _node(camera, corners[BACK_RIGHT], corners[BACK_LEFT], -1.0)
    x3, y3 = _node(camera, corners[BACK_LEFT], corners[BACK_RIGHT], 1.0)
    add_edge(cells, x1, y1, x2, y2, colour)
    add_edge(cells, x3, y3, x0, y0, colour)


@compiled()
def _add_back(cells: Cells, camera: Camera, corners: NDArray[np.float64], step: Weights) -> None:
    """Add the edge to the tile before, where the colour changes: not between visited tiles."""
    if step[0] != 0 or step[1] != 0 or step[2] != 0 or step[3] != 0:
        x2, y2 = _node(camera, corners[BACK_RIGHT], corners[BACK_LEFT], -1.0)
        x3, y3 = _node(camera, corners[BACK_LEFT], corners[BACK_RIGHT], 1.0)
        add_edge(cells, x2, y2, x3, y3, step)


@compiled()
def _add_front(cells: Cells, camera: Camera, corners: NDArray[np.float64], colour: Weights) -> None:
    """Add the front of the last tile before a gap."""
    x0, y0 = _node(camera, corners[FRONT_LEFT], corners[FRONT_RIGHT], 1.0)
    x1, y1 = _node(camera, corners[FRONT_RIGHT], corners[FRONT_LEFT], -1.0)
    add_edge(cells, x0, y0, x1, y1, colour)


@compiled()
def _node(camera: Camera, corner: NDArray[np.float64], opposite: NDArray[np.float64], side: float) -> Point:
    """Return the position of a corner of the road, moved outward by the excess of gfxdraw's polygons."""
    return _moved(camera, corner, corner[0] - opposite[0], corner[1] - opposite[1], 1.0, side)


@compiled()
def _moved(
    camera: Camera, corner: NDArray[np.float64], dx: float, dy: float, outward: float, side: float
) -> Point:
    """Return the position of a corner, moved along (dx, dy) by `outward` times the excess of polygons.

    It also moves back along the road, since a tile or kerb is drawn over the previous one.

    Args:
        side: 1 where (dx, dy) points to the left of the road, -1 where to the right.
    """
    length = math.sqrt(dx * dx + dy * dy)
    nx = (dx * camera.cosine - dy * camera.sine) / length
    ny = (dx * camera.sine + dy * camera.cosine) / length
    out, back = outward * fatness(nx, ny), side * fatness(ny, nx)
    return see(camera, corner[0], corner[1], out * nx - back * ny, out * ny + back * nx)


@compiled()
def _add_kerb(
    cells: Cells,
    camera: Camera,
    corners: NDArray[np.float64],
    colour: Weights,
    tile: Weights,
) -> None:
    """Add a kerb, and subtract the part of its tile that it hides: the excess of both."""
    dx1, dy1 = corners[1, 0] - corners[0, 0], corners[1, 1] - corners[0, 1]
    dx2, dy2 = corners[2, 0] - corners[3, 0], corners[2, 1] - corners[3, 1]
    ahead_x, ahead_y = corners[0, 0] - corners[3, 0], corners[0, 1] - corners[3, 1]
    side = 1.0 if ahead_x * dy1 - ahead_y * dx1 > 0 else -1.0  # left or right of the road
    inner1, inner2 = (
        _moved(camera, corners[0], dx1, dy1, -1.0, side),
        _moved(camera, corners[3], dx2, dy2, -1.0, side),
    )
    edge1, edge2 = (
        _moved(camera, corners[0], dx1, dy1, 1.0, side),
        _moved(camera, corners[3], dx2, dy2, 1.0, side),
    )
    outer1, outer2 = (
        _moved(camera, corners[1], dx1, dy1, 1.0, side),
        _moved(camera, corners[2], dx2, dy2, 1.0, side),
    )
    if side > 0:
        _add_quad(cells, outer1, inner1, inner2, outer2, colour)
        _add_quad(cells, inner1, edge1, edge2, inner2, tile)
    else:
        _add_quad(cells, inner1, outer1, outer2, inner2, colour)
        _add_quad(cells, edge1, inner1, inner2, edge2, tile)


@compiled()
def _add_quad(cells: Cells, a: Point, b: Point, c: Point, d: Point, weights: Weights) -> None:
    """Add a quadrilateral, clockwise."""
    add_edge(cells, a[0], a[1], b[0], b[1], weights)
    add_edge(cells, b[0], b[1], c[0], c[1], weights)
    add_edge(cells, c[0], c[1], d[0], d[1], weights)
    add_edge(cells, d[0], d[1], a[0], a[1], weights)
