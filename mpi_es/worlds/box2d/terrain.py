"""Pieces of terrain, made by each reset: edges and polygons of four corners."""

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.records import QUAD, Scene
from mpi_es.worlds.box2d.settings import BOX_MARGIN, F32, LARGEST, RADIUS
from mpi_es.worlds.box2d.shapes import compiled_centroid, compiled_normals, compiled_wrap
from mpi_es.worlds.box2d.vectors import greater, lesser, normalized


@compiled()
def put_edge(
    scene: Scene, i: int, x1: float, y1: float, x2: float, y2: float, body: int, friction: float
) -> None:
    """Make piece i an edge between two points.

    Args:
        body: the first piece of the same static body.
    """
    piece = scene.pieces[i]
    piece.size, piece.body, piece.friction = 2, body, F32(friction)
    corners = piece.corners
    corners[0, 0], corners[0, 1], corners[1, 0], corners[1, 1] = F32(x1), F32(y1), F32(x2), F32(y2)
    way_x, way_y = corners[1, 0] - corners[0, 0], corners[1, 1] - corners[0, 1]
    piece.normals[0, 0], piece.normals[0, 1] = normalized(way_y, -way_x)
    _put_box(scene, i)


@compiled()
def put_polygon(scene: Scene, i: int, points: NDArray[np.float32], friction: float) -> None:
    """Make piece i a convex polygon with these corners (QUAD, 2)."""
    piece = scene.pieces[i]
    piece.size, piece.body, piece.friction = QUAD, i, F32(friction)
    compiled_wrap(points, piece.corners)
    compiled_normals(piece.corners, piece.size, piece.normals)
    piece.centroid_x, piece.centroid_y = compiled_centroid(piece.corners, piece.size)
    _put_box(scene, i)


@compiled()
def _put_box(scene: Scene, i: int) -> None:
    """Set a piece's box."""
    piece = scene.pieces[i]
    lower_x, lower_y, upper_x, upper_y = LARGEST, LARGEST, -LARGEST, -LARGEST
    for j in range(piece.size):
        x, y = piece.corners[j, 0], piece.corners[j, 1]
        lower_x, lower_y = lesser(lower_x, x), lesser(lower_y, y)
        upper_x, upper_y = greater(upper_x, x), greater(upper_y, y)
    scene.boxes[0, i], scene.boxes[1, i] = lower_x - RADIUS - BOX_MARGIN, lower_y - RADIUS - BOX_MARGIN
    scene.boxes[2, i], scene.boxes[3, i] = upper_x + RADIUS + BOX_MARGIN, upper_y + RADIUS + BOX_MARGIN
