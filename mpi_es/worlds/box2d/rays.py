"""Where a ray meets the terrain: b2World::RayCast. The nearest piece counts, whatever the order of tests."""

from typing import NamedTuple

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.records import Piece, Scene
from mpi_es.worlds.box2d.settings import ONE, ZERO
from mpi_es.worlds.box2d.vectors import greater, lesser


class Ray(NamedTuple):
    """A ray from (x1, y1) to (x2, y2)."""

    x1: np.float32
    y1: np.float32
    x2: np.float32
    y2: np.float32


@compiled()
def cast(scene: Scene, ray: Ray, first: int, last: int, most: np.float32) -> np.float32:
    """Return the fraction of a ray at which it meets one of the pieces first … last - 1, at most `most`."""
    lower_x, upper_x = lesser(ray.x1, ray.x2), greater(ray.x1, ray.x2)
    lower_y, upper_y = lesser(ray.y1, ray.y2), greater(ray.y1, ray.y2)
    boxes = scene.boxes
    for i in range(first, last):
        if boxes[0, i] > upper_x or boxes[2, i] < lower_x or boxes[1, i] > upper_y or boxes[3, i] < lower_y:
            continue
        piece = scene.pieces[i]
        most = _meet_edge(piece, ray, most) if piece.size == 2 else _meet_polygon(piece, ray, most)
    return most


@compiled()
def _meet_edge(piece: Piece, ray: Ray, most: np.float32) -> np.float32:
    """Return the fraction at which a ray meets an edge, or `most`: b2EdgeShape::RayCast."""
    x1, y1 = piece.corners[0, 0], piece.corners[0, 1]
    n_x, n_y = piece.normals[0, 0], piece.normals[0, 1]
    way_x, way_y = ray.x2 - ray.x1, ray.y2 - ray.y1
    numerator = n_x * (x1 - ray.x1) + n_y * (y1 - ray.y1)
    denominator = n_x * way_x + n_y * way_y
    if denominator == ZERO:
        return most
    fraction = numerator / denominator
    if fraction < ZERO or most < fraction:
        return most
    meet_x, meet_y = ray.x1 + fraction * way_x, ray.y1 + fraction * way_y
    edge_x, edge_y = piece.corners[1, 0] - x1, piece.corners[1, 1] - y1
    square = edge_x * edge_x + edge_y * edge_y
    if square == ZERO:
        return most
    along = ((meet_x - x1) * edge_x + (meet_y - y1) * edge_y) / square
    return most if along < ZERO or along > ONE else fraction


@compiled()
def _meet_polygon(piece: Piece, ray: Ray, most: np.float32) -> np.float32:
    """Return the fraction at which a ray enters a polygon, or `most`: b2PolygonShape::RayCast."""
    way_x, way_y = ray.x2 - ray.x1, ray.y2 - ray.y1
    lower, upper, enters = ZERO, most, False
    for i in range(piece.size):
        n_x, n_y = piece.normals[i, 0], piece.normals[i, 1]
        numerator = n_x * (piece.corners[i, 0] - ray.x1) + n_y * (piece.corners[i, 1] - ray.y1)
        denominator = n_x * way_x + n_y * way_y
        if denominator == ZERO:
            if numerator < ZERO:
                return most
        elif denominator < ZERO and numerator < lower * denominator:
            lower, enters = numerator / denominator, True
        elif denominator > ZERO and numerator < upper * denominator:
            upper = numerator / denominator
        if upper < lower:
            return most
    return lower if enters else most
