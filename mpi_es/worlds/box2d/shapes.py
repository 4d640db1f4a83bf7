"""Polygons as Box2D keeps them, in float32: b2PolygonShape::Set, ComputeCentroid and ComputeMass.

The order of sums and of a polygon's vertices affects the last bits, so it is Box2D's throughout.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.settings import F32, HALF, ONE, ZERO

Points = NDArray[np.float32]
THIRD = ONE / F32(3)


def wrap(points: Points, hull: Points) -> int:
    """Write a polygon's convex hull and return its size: b2PolygonShape::Set, a gift wrapping.

    It starts at the rightmost point (the lowest of several) and goes counter-clockwise; of collinear points
    it takes the furthest.
    """
    first = 0
    for i in range(1, len(points)):
        right = points[i, 0] - points[first, 0]
        if right > 0 or (right == 0 and points[i, 1] < points[first, 1]):
            first = i
    current, size = first, 0
    while size == 0 or current != first:
        hull[size, 0], hull[size, 1] = points[current, 0], points[current, 1]
        size += 1
        best = 0  # it will have no other point to the right of the way to it
        for j in range(1, len(points)):
            best_x, best_y = points[best, 0] - points[current, 0], points[best, 1] - points[current, 1]
            j_x, j_y = points[j, 0] - points[current, 0], points[j, 1] - points[current, 1]
            turn = best_x * j_y - best_y * j_x
            further = j_x * j_x + j_y * j_y > best_x * best_x + best_y * best_y
            if best == current or turn < 0 or (turn == 0 and further):
                best = j
        current = best
    return size


def find_normals(corners: Points, size: int, normals: Points) -> None:
    """Write the outward normal of each face, which begins at the corner of the same number."""
    for i in range(size):
        following = (i + 1) % size
        edge_x = corners[following, 0] - corners[i, 0]
        edge_y = corners[following, 1] - corners[i, 1]
        inverse = ONE / F32(np.sqrt(edge_y * edge_y + edge_x * edge_x))
        normals[i, 0], normals[i, 1] = edge_y * inverse, -edge_x * inverse


def centroid(corners: Points, size: int) -> tuple[np.float32, np.float32]:
    """Return the middle of the area, by triangles that meet at the origin."""
    area, x, y = ZERO, ZERO, ZERO
    for i in range(size):
        following = (i + 1) % size
        x1, y1, x2, y2 = corners[i, 0], corners[i, 1], corners[following, 0], corners[following, 1]
        triangle = HALF * (x1 * y2 - y1 * x2)
        area += triangle
        x += triangle * THIRD * (x1 + x2)
        y += triangle * THIRD * (y1 + y2)
    return x * (ONE / area), y * (ONE / area)


def body_mass(polygons: Sequence[Points], density: np.float32) -> tuple[np.float32, np.float32, Points]:
    """Return inverse mass, inverse moment about the centre, and the centre (2,): b2Body::ResetMassData."""
    total, centre, moment = ZERO, np.zeros(2, F32), ZERO
    for polygon in reversed(polygons):  # a body lists its newest fixture first
        m, c, i = _mass(polygon, density)
        total, centre, moment = total + m, centre + m * c, moment + i
    centre *= ONE / total
    moment -= total * _dot(centre, centre)
    return ONE / total, ONE / moment, centre


def _mass(corners: Points, density: np.float32) -> tuple[np.float32, Points, np.float32]:
    """Return mass, centre (2,) and moment about the origin, by triangles that meet at the corners' mean."""
    middle = np.zeros(2, F32)
    for corner in corners:
        middle += corner
    middle *= ONE / F32(len(corners))
    area, centre, moment = ZERO, np.zeros(2, F32), ZERO
    for i in range(len(corners)):
        e, f = corners[i] - middle, corners[(i + 1) % len(corners)] - middle
        cross = e[0] * f[1] - e[1] * f[0]
        area += HALF * cross
        centre += HALF * cross * THIRD * (e + f)
        square = e * e + f * e + f * f
        moment += F32(0.25) * THIRD * cross * (square[0] + square[1])
    centre *= ONE / area
    total, absolute = density * area, centre + middle
    return total, absolute, density * moment + total * (_dot(absolute, absolute) - _dot(centre, centre))


def _dot(a: Points, b: Points) -> np.float32:
    """Return b2Dot, which numpy's dot might round differently."""
    return F32(a[0] * b[0] + a[1] * b[1])


compiled_wrap, compiled_normals, compiled_centroid = (
    compiled()(wrap),
    compiled()(find_normals),
    compiled()(centroid),
)
