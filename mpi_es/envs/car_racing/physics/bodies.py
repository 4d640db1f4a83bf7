"""The car's polygons and masses as Box2D makes them, in its float32 and its order of vertices.

Everything here is computed once, at import, from the measures in gymnasium's car_dynamics.py. The order of a
sum or of a polygon's vertices decides last bits, hence it is Box2D's throughout.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled

F32 = np.float32
Polygon = NDArray[np.float32]

SIZE = 0.02  # metres in a unit of gymnasium's drawing
WHEEL_R, WHEEL_W = 27, 14
STRIPE_ANGLE = 1.2  # radians of a wheel's turn that are white
WHEEL_POSITIONS = ((-55, +80), (+55, +80), (-55, -82), (+55, -82))
HULL_POLYGONS = (
    ((-60, +130), (+60, +130), (+60, +110), (-60, +110)),
    ((-15, +120), (+15, +120), (+20, +20), (-20, 20)),
    ((+25, +20), (+50, -10), (+50, -40), (+20, -90), (-20, -90), (-50, -40), (-50, -10), (-25, +20)),
    ((-50, -120), (+50, -120), (+50, -90), (-50, -90)),
)
WHEEL_POLYGON = ((-WHEEL_W, +WHEEL_R), (+WHEEL_W, +WHEEL_R), (+WHEEL_W, -WHEEL_R), (-WHEEL_W, -WHEEL_R))
HULL_DENSITY, WHEEL_DENSITY = F32(1.0), F32(0.1)
MOST_VERTICES = 8


def wrap(points: Polygon, hull: Polygon) -> int:
    """Write a polygon's convex hull and return its size: b2PolygonShape::Set, a gift wrapping.

    It starts at the rightmost point (the lowest of several) and goes counter-clockwise; of points in one line
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
        current = _next_vertex(points, current)
    return size


def _next_vertex(points: Polygon, current: int) -> int:
    """Return the point that has no other to the right of the way to it."""
    best = 0
    for j in range(1, len(points)):
        if best == current:
            best = j
            continue
        to_best_x, to_best_y = points[best, 0] - points[current, 0], points[best, 1] - points[current, 1]
        to_j_x, to_j_y = points[j, 0] - points[current, 0], points[j, 1] - points[current, 1]
        turn = to_best_x * to_j_y - to_best_y * to_j_x
        further = to_j_x * to_j_x + to_j_y * to_j_y > to_best_x * to_best_x + to_best_y * to_best_y
        if turn < 0 or (turn == 0 and further):
            best = j
    return best


def _convex(corners: tuple[tuple[int, int], ...]) -> Polygon:
    """Return (n, 2) vertices in Box2D's order."""
    points = np.array([(x * SIZE, y * SIZE) for x, y in corners], F32)
    hull = np.zeros_like(points)
    return hull[: wrap(points, hull)]


def _mass(vertices: Polygon, density: np.float32) -> tuple[np.float32, Polygon, np.float32]:
    """Return mass, centre (2,) and moment about the origin: b2PolygonShape::ComputeMass, by triangles."""
    middle = np.zeros(2, F32)
    for vertex in vertices:
        middle += vertex
    middle *= F32(1) / F32(len(vertices))
    third = F32(1) / F32(3)
    area, centre, moment = F32(0), np.zeros(2, F32), F32(0)
    for i in range(len(vertices)):
        e, f = vertices[i] - middle, vertices[(i + 1) % len(vertices)] - middle
        cross = e[0] * f[1] - e[1] * f[0]
        area += F32(0.5) * cross
        centre += F32(0.5) * cross * third * (e + f)
        square = e * e + f * e + f * f
        moment += F32(0.25) * third * cross * (square[0] + square[1])
    centre *= F32(1) / area
    mass, absolute = density * area, centre + middle
    moment = density * moment + mass * (_square(absolute) - _square(centre))
    return mass, absolute, moment


def _square(v: Polygon) -> np.float32:
    """Return b2Dot(v, v), which numpy's dot might round otherwise."""
    return F32(v[0] * v[0] + v[1] * v[1])


def _body(polygons: Sequence[Polygon], density: np.float32) -> tuple[np.float32, np.float32, Polygon]:
    """Return inverse mass, inverse moment about the centre, and the centre: b2Body::ResetMassData."""
    mass, centre, moment = F32(0), np.zeros(2, F32), F32(0)
    for polygon in reversed(polygons):  # a body lists its newest fixture first
        m, c, i = _mass(polygon, density)
        mass, centre, moment = mass + m, centre + m * c, moment + i
    centre *= F32(1) / mass
    moment -= mass * _square(centre)
    return F32(1) / mass, F32(1) / moment, centre


def _padded(polygons: list[Polygon]) -> Polygon:
    """Return (polygons, MOST_VERTICES, 2), with zeros after a polygon's last vertex."""
    padded = np.zeros((len(polygons), MOST_VERTICES, 2), F32)
    for i, polygon in enumerate(polygons):
        padded[i, : len(polygon)] = polygon
    return padded


HULL = tuple(_convex(corners) for corners in HULL_POLYGONS)
WHEEL = _convex(WHEEL_POLYGON)

# Fixtures: the hull's four, then the wheels'
FIXTURES = 8
FIXTURE_BODY = np.array([0, 0, 0, 0, 1, 2, 3, 4])
FIXTURE_VERTICES = _padded([*HULL, *[WHEEL] * 4])
FIXTURE_SIZE = np.array([len(polygon) for polygon in [*HULL, *[WHEEL] * 4]])

HULL_INVERSE_MASS, HULL_INVERSE_MOMENT, HULL_CENTRE = _body(HULL, HULL_DENSITY)
WHEEL_INVERSE_MASS, WHEEL_INVERSE_MOMENT, WHEEL_CENTRE = _body([WHEEL], WHEEL_DENSITY)
HULL_CENTRE_X, HULL_CENTRE_Y = HULL_CENTRE

# The solver leaves out all terms that a wheel's centre away from its joint would bring.
assert not WHEEL_CENTRE.any()

_next_vertex = compiled()(_next_vertex)  # after the work of import, which would compile it for nothing
wrap = compiled()(wrap)


@compiled()
def stripe_ends(phase: float) -> tuple[bool, float, float]:
    """Return whether a wheel's stripe is on top, and where it begins and ends, in radii of the wheel."""
    sine1, sine2 = math.sin(phase), math.sin(phase + STRIPE_ANGLE)
    cosine1, cosine2 = math.cos(phase), math.cos(phase + STRIPE_ANGLE)
    if sine1 > 0:  # it begins below the wheel
        cosine1 = np.sign(cosine1)
    if sine2 > 0:
        cosine2 = np.sign(cosine2)
    return not (sine1 > 0 and sine2 > 0), cosine1, cosine2
