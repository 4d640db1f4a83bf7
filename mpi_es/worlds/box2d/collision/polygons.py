"""The manifold of a polygon of the terrain and a body: b2CollidePolygons (b2CollidePolygon.cpp)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.collision.clipping import (
    FACE_A_IS_REFERENCE,
    FACE_B_IS_REFERENCE,
    Segment,
    add_point,
    cut,
    point_key,
)
from mpi_es.worlds.box2d.records import Body, Contact, Piece
from mpi_es.worlds.box2d.settings import ABSOLUTE, BOTH_RADII, HALF, LARGEST, ONE, RELATIVE, ZERO
from mpi_es.worlds.box2d.vectors import Pair, normalized, rotate, rotate_back


class _Polygon(NamedTuple):
    """A polygon and the position of its frame."""

    corners: NDArray[np.float32]
    normals: NDArray[np.float32]
    size: int
    centroid_x: np.float32
    centroid_y: np.float32
    sine: np.float32
    cosine: np.float32
    x: np.float32
    y: np.float32


@compiled()
def collide_polygons(contact: Contact, piece: Piece, body: Body) -> None:
    """Write the manifold of a polygon of the terrain (A) and a body (B)."""
    contact.count = 0
    a = _Polygon(
        piece.corners, piece.normals, piece.size, piece.centroid_x, piece.centroid_y, ZERO, ONE, ZERO, ZERO
    )
    b = _Polygon(
        body.corners,
        body.normals,
        body.size,
        body.centroid_x,
        body.centroid_y,
        body.sine,
        body.cosine,
        body.origin_x,
        body.origin_y,
    )
    edge_a, separation_a = _most_separation(a, b)
    if separation_a > BOTH_RADII:
        return
    edge_b, separation_b = _most_separation(b, a)
    if separation_b > BOTH_RADII:
        return
    if separation_b > RELATIVE * separation_a + ABSOLUTE:
        contact.face = FACE_B_IS_REFERENCE
        _clip(contact, body, b, edge_b, a)
    else:
        contact.face = FACE_A_IS_REFERENCE
        _clip(contact, body, a, edge_a, b)


@compiled()
def _place(polygon: _Polygon, i: int) -> Pair:
    """Return the position of a corner in the world."""
    x, y = rotate(polygon.sine, polygon.cosine, polygon.corners[i, 0], polygon.corners[i, 1])
    return x + polygon.x, y + polygon.y


@compiled()
def _separation(one: _Polygon, edge: int, other: _Polygon) -> np.float32:
    """Return how far the other polygon is from a face: b2EdgeSeparation."""
    n_x, n_y = rotate(one.sine, one.cosine, one.normals[edge, 0], one.normals[edge, 1])
    local_x, local_y = rotate_back(other.sine, other.cosine, n_x, n_y)
    corner, least = 0, LARGEST
    for i in range(other.size):
        distance = other.corners[i, 0] * local_x + other.corners[i, 1] * local_y
        if distance < least:
            corner, least = i, distance
    x1, y1 = _place(one, edge)
    x2, y2 = _place(other, corner)
    return (x2 - x1) * n_x + (y2 - y1) * n_y


@compiled()
def _most_separation(one: _Polygon, other: _Polygon) -> tuple[int, np.float32]:
    """Return the face furthest from the other polygon, and how far, by ascent: b2FindMaxSeparation."""
    edge = _face_towards(one, other)
    separation = _separation(one, edge, other)
    before = edge - 1 if edge >= 1 else one.size - 1
    separation_before = _separation(one, before, other)
    after = edge + 1 if edge + 1 < one.size else 0
    separation_after = _separation(one, after, other)
    if separation_before > separation and separation_before > separation_after:
        step, edge, separation = -1, before, separation_before
    elif separation_after > separation:
        step, edge, separation = 1, after, separation_after
    else:
        return edge, separation
    while True:
        following = (edge + step + one.size) % one.size
        value = _separation(one, following, other)
        if not value > separation:
            return edge, separation
        edge, separation = following, value


@compiled()
def _face_towards(one: _Polygon, other: _Polygon) -> int:
    """Return the face that faces the other polygon's middle most."""
    x1, y1 = rotate(one.sine, one.cosine, one.centroid_x, one.centroid_y)
    x2, y2 = rotate(other.sine, other.cosine, other.centroid_x, other.centroid_y)
    way_x, way_y = (x2 + other.x) - (x1 + one.x), (y2 + other.y) - (y1 + one.y)
    local_x, local_y = rotate_back(one.sine, one.cosine, way_x, way_y)
    edge, most = 0, -LARGEST
    for i in range(one.size):
        value = one.normals[i, 0] * local_x + one.normals[i, 1] * local_y
        if value > most:
            edge, most = i, value
    return edge


@compiled()
def _incident(one: _Polygon, edge: int, other: _Polygon) -> Segment:
    """Return the other polygon's face most opposite to a face of the first one: b2FindIncidentEdge."""
    n_x, n_y = rotate(one.sine, one.cosine, one.normals[edge, 0], one.normals[edge, 1])
    local_x, local_y = rotate_back(other.sine, other.cosine, n_x, n_y)
    corner, least = 0, LARGEST
    for i in range(other.size):
        value = local_x * other.normals[i, 0] + local_y * other.normals[i, 1]
        if value < least:
            corner, least = i, value
    following = corner + 1 if corner + 1 < other.size else 0
    x0, y0 = _place(other, corner)
    x1, y1 = _place(other, following)
    return Segment(x0, y0, point_key(edge, corner, True), x1, y1, point_key(edge, following, True))


@compiled()
def _clip(contact: Contact, body: Body, one: _Polygon, edge: int, other: _Polygon) -> None:
    """Write the manifold whose reference is a face of the first polygon."""
    segment = _incident(one, edge, other)
    following = edge + 1 if edge + 1 < one.size else 0
    x0, y0 = one.corners[edge, 0], one.corners[edge, 1]
    x1, y1 = one.corners[following, 0], one.corners[following, 1]
    t_x, t_y = normalized(x1 - x0, y1 - y0)
    contact.normal_x, contact.normal_y = t_y, -t_x
    contact.plane_x, contact.plane_y = HALF * (x0 + x1), HALF * (y0 + y1)
    t_x, t_y = rotate(one.sine, one.cosine, t_x, t_y)
    x0, y0 = _place(one, edge)
    x1, y1 = _place(one, following)
    whole, segment = cut(segment, -t_x, -t_y, -(t_x * x0 + t_y * y0) + BOTH_RADII, edge)
    if not whole:
        return
    whole, segment = cut(segment, t_x, t_y, t_x * x1 + t_y * y1 + BOTH_RADII, following)
    if not whole:
        return
    n_x, n_y = t_y, -t_x
    front = n_x * x0 + n_y * y0
    x0, y0, key0, x1, y1, key1 = segment
    if n_x * x0 + n_y * y0 - front <= BOTH_RADII:
        add_point(contact, body, x0, y0, key0)
    if n_x * x1 + n_y * y1 - front <= BOTH_RADII:
        add_point(contact, body, x1, y1, key1)
