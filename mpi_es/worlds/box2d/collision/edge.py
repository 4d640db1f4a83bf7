"""The manifold of an edge of the terrain and a body: b2EPCollider of an edge without neighbours."""

from typing import NamedTuple

import numpy as np

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
from mpi_es.worlds.box2d.settings import ABSOLUTE, ANGULAR_SLOP, BOTH_RADII, LARGEST, RELATIVE, ZERO
from mpi_es.worlds.box2d.vectors import corner_of, lesser, normal_of, normalized, to_world


class _Face(NamedTuple):
    """The reference face in the world: its ends, its normal, and the indices of its corners."""

    x0: np.float32
    y0: np.float32
    x1: np.float32
    y1: np.float32
    normal_x: np.float32
    normal_y: np.float32
    corner0: int
    corner1: int


@compiled()
def collide_edge(contact: Contact, piece: Piece, body: Body) -> None:
    """Write the manifold of an edge (A) and a body (B)."""
    contact.count = 0
    x1, y1 = piece.corners[0, 0], piece.corners[0, 1]
    e_x, e_y = normalized(piece.corners[1, 0] - x1, piece.corners[1, 1] - y1)
    middle_x, middle_y = to_world(body, body.centroid_x, body.centroid_y)
    front = e_y * (middle_x - x1) + -e_x * (middle_y - y1) >= ZERO
    n_x, n_y = (e_y, -e_x) if front else (-e_y, e_x)
    edge_separation = _edge_separation(piece, body, n_x, n_y)
    if edge_separation > BOTH_RADII:
        return
    index, separation = _furthest_face(piece, body, n_x, n_y)
    if separation > BOTH_RADII:
        return
    if index >= 0 and separation > RELATIVE * edge_separation + ABSOLUTE:
        contact.face = FACE_B_IS_REFERENCE
        face, segment = _face_of_body(piece, body, index)
        contact.normal_x, contact.normal_y = body.normals[index, 0], body.normals[index, 1]
        contact.plane_x, contact.plane_y = body.corners[index, 0], body.corners[index, 1]
    else:
        contact.face = FACE_A_IS_REFERENCE
        face, segment = _face_of_edge(piece, body, front, n_x, n_y)
        contact.normal_x, contact.normal_y = face.normal_x, face.normal_y
        contact.plane_x, contact.plane_y = face.x0, face.y0
    _clip(contact, body, face, segment)


@compiled()
def _edge_separation(piece: Piece, body: Body, n_x: np.float32, n_y: np.float32) -> np.float32:
    """Return the distance from the edge's line to the nearest corner: ComputeEdgeSeparation."""
    least = LARGEST
    for i in range(body.size):
        x, y = corner_of(body, i)
        least = lesser(least, n_x * (x - piece.corners[0, 0]) + n_y * (y - piece.corners[0, 1]))
    return least


@compiled()
def _furthest_face(piece: Piece, body: Body, n_x: np.float32, n_y: np.float32) -> tuple[int, np.float32]:
    """Return the body's face that is furthest from the edge, and how far: ComputePolygonSeparation.

    The first face that is too far to touch is enough; -1 is no face.
    """
    index, most = -1, -LARGEST
    for i in range(body.size):
        x, y = corner_of(body, i)
        turned_x, turned_y = normal_of(body, i)
        m_x, m_y = -turned_x, -turned_y
        separation = lesser(
            m_x * (x - piece.corners[0, 0]) + m_y * (y - piece.corners[0, 1]),
            m_x * (x - piece.corners[1, 0]) + m_y * (y - piece.corners[1, 1]),
        )
        if separation > BOTH_RADII:
            return i, separation
        # Adjacency: the face must not look to the edge's other side.
        if separation > most and not (m_x + n_x) * n_x + (m_y + n_y) * n_y < -ANGULAR_SLOP:
            index, most = i, separation
    return index, most


@compiled()
def _face_of_body(piece: Piece, body: Body, index: int) -> tuple[_Face, Segment]:
    """Return the body's face as the reference, and the edge as the incident face."""
    following = index + 1 if index + 1 < body.size else 0
    x0, y0 = corner_of(body, index)
    x1, y1 = corner_of(body, following)
    n_x, n_y = normal_of(body, index)
    key = point_key(0, index, False)
    corners = piece.corners
    segment = Segment(corners[0, 0], corners[0, 1], key, corners[1, 0], corners[1, 1], key)
    return _Face(x0, y0, x1, y1, n_x, n_y, index, following), segment


@compiled()
def _face_of_edge(
    piece: Piece, body: Body, front: bool, n_x: np.float32, n_y: np.float32
) -> tuple[_Face, Segment]:
    """Return the edge as the reference, and the body's face most opposite to it as the incident face."""
    index = _opposite_face(body, n_x, n_y)
    following = index + 1 if index + 1 < body.size else 0
    x0, y0 = corner_of(body, index)
    x1, y1 = corner_of(body, following)
    segment = Segment(x0, y0, point_key(0, index, True), x1, y1, point_key(0, following, True))
    first, second = (0, 1) if front else (1, 0)
    start_x, start_y = piece.corners[first, 0], piece.corners[first, 1]
    end_x, end_y = piece.corners[second, 0], piece.corners[second, 1]
    return _Face(start_x, start_y, end_x, end_y, n_x, n_y, first, second), segment


@compiled()
def _opposite_face(body: Body, n_x: np.float32, n_y: np.float32) -> int:
    """Return the face whose normal is the most opposite."""
    best, least = 0, LARGEST
    for i in range(body.size):
        m_x, m_y = normal_of(body, i)
        value = n_x * m_x + n_y * m_y
        if value < least:
            best, least = i, value
    return best


@compiled()
def _clip(contact: Contact, body: Body, face: _Face, segment: Segment) -> None:
    """Add the points of the incident face that lie above the reference face and are near it."""
    side_x, side_y = face.normal_y, -face.normal_x
    offset = side_x * face.x0 + side_y * face.y0
    whole, segment = cut(segment, side_x, side_y, offset, face.corner0)
    if not whole:
        return
    offset = -side_x * face.x1 + -side_y * face.y1
    whole, segment = cut(segment, -side_x, -side_y, offset, face.corner1)
    if not whole:
        return
    x0, y0, key0, x1, y1, key1 = segment
    if _depth(face, x0, y0) <= BOTH_RADII:
        add_point(contact, body, x0, y0, key0)
    if _depth(face, x1, y1) <= BOTH_RADII:
        add_point(contact, body, x1, y1, key1)


@compiled()
def _depth(face: _Face, x: np.float32, y: np.float32) -> np.float32:
    """Return how far a point is above the reference face."""
    return face.normal_x * (x - face.x0) + face.normal_y * (y - face.y0)
