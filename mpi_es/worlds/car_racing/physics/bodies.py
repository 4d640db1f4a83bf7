"""The car's polygons and masses as in Box2D, in its float32 and its order of vertices.

Everything here is computed once, at import, from the measures in gymnasium's car_dynamics.py.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d import shapes

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


def _convex(corners: tuple[tuple[int, int], ...]) -> Polygon:
    """Return (n, 2) vertices in Box2D's order."""
    points = np.array([(x * SIZE, y * SIZE) for x, y in corners], F32)
    hull = np.zeros_like(points)
    return hull[: shapes.wrap(points, hull)]


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

HULL_INVERSE_MASS, HULL_INVERSE_MOMENT, HULL_CENTRE = shapes.body_mass(HULL, HULL_DENSITY)
WHEEL_INVERSE_MASS, WHEEL_INVERSE_MOMENT, WHEEL_CENTRE = shapes.body_mass([WHEEL], WHEEL_DENSITY)
HULL_CENTRE_X, HULL_CENTRE_Y = HULL_CENTRE

# The solver leaves out all terms that a wheel's centre away from its joint would bring.
assert not WHEEL_CENTRE.any()


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
