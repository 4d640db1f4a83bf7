"""The points of a manifold: the incident face, cut where the reference face ends (b2ClipSegmentToLine).

A point's key is b2ContactFeature: indexA | indexB << 8 | typeA << 16 | typeB << 24, where a type is 0 for a
vertex and 1 for a face. A point whose key existed before keeps its impulses.
"""

from typing import NamedTuple

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.records import Body, Contact
from mpi_es.worlds.box2d.settings import ZERO
from mpi_es.worlds.box2d.vectors import to_body

FACE_A_IS_REFERENCE, FACE_B_IS_REFERENCE = 1, 2  # values of contact.face
_FACE_A, _FACE_B = 1 << 16, 1 << 24


class Segment(NamedTuple):
    """Two points with their keys."""

    x0: np.float32
    y0: np.float32
    key0: int
    x1: np.float32
    y1: np.float32
    key1: int


@compiled()
def point_key(a: int, b: int, face_is_a: bool) -> int:
    """Return the key of an incident corner: of face a and vertex b, or of vertex a and face b."""
    return a | b << 8 | (_FACE_A if face_is_a else _FACE_B)


@compiled()
def cut(
    segment: Segment, normal_x: np.float32, normal_y: np.float32, offset: np.float32, corner: int
) -> tuple[bool, Segment]:
    """Return the part of a segment on the inner side of a line, and whether it has two points.

    Args:
        corner: the one of the reference face that the line goes through.
    """
    x0, y0, key0, x1, y1, key1 = segment
    distance0 = normal_x * x0 + normal_y * y0 - offset
    distance1 = normal_x * x1 + normal_y * y1 - offset
    if distance0 <= ZERO and distance1 <= ZERO:
        return True, segment
    if not distance0 * distance1 < ZERO:
        return False, segment
    part = distance0 / (distance0 - distance1)
    x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
    key = corner | (key0 & 0xFF00) | _FACE_B
    if distance0 <= ZERO:
        return True, Segment(x0, y0, key0, x, y, key)
    return True, Segment(x1, y1, key1, x, y, key)


@compiled()
def add_point(contact: Contact, body: Body, x: np.float32, y: np.float32, key: int) -> None:
    """Add a point to a manifold, in the frame of the body that has the incident face."""
    if contact.face == FACE_A_IS_REFERENCE:
        x, y = to_body(body, x, y)
    else:
        key = (key >> 8 & 0xFF) | (key & 0xFF) << 8 | (key >> 24 & 0xFF) << 16 | (key >> 16 & 0xFF) << 24
    contact.points[contact.count, 0], contact.points[contact.count, 1] = x, y
    contact.keys[contact.count] = key
    contact.count += 1
