"""The outlines of the car's hull and wheels, as the physics collides them and the pictures draw them."""

import numpy as np
from numpy.typing import NDArray

SIZE = 0.02  # gymnasium's: metres in a unit of its drawing of the car
WHEEL_R, WHEEL_W = 27, 14  # half of a wheel's length and width, in units

_HULL = (  # gymnasium's HULL_POLY1 to 4
    ((-60, 130), (60, 130), (60, 110), (-60, 110)),
    ((-15, 120), (15, 120), (20, 20), (-20, 20)),
    ((25, 20), (50, -10), (50, -40), (20, -90), (-20, -90), (-50, -40), (-50, -10), (-25, 20)),
    ((-50, -120), (50, -120), (50, -90), (-50, -90)),
)
_WHEEL = ((-WHEEL_W, WHEEL_R), (WHEEL_W, WHEEL_R), (WHEEL_W, -WHEEL_R), (-WHEEL_W, -WHEEL_R))


def _as_box2d(corners: tuple[tuple[int, int], ...]) -> NDArray[np.float32]:
    """Return a convex polygon (n, 2) in metres, in the order of Box2D's b2PolygonShape::Set.

    It wraps counter-clockwise from the rightmost corner, the lower one of two.
    """
    points = list(corners)
    area = sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(points, points[1:] + points[:1], strict=True))
    if area < 0:
        points.reverse()
    start = max(range(len(points)), key=lambda i: (points[i][0], -points[i][1]))
    return np.array([(x * SIZE, y * SIZE) for x, y in points[start:] + points[:start]], np.float32)


HULL: tuple[NDArray[np.float32], ...] = tuple(_as_box2d(corners) for corners in _HULL)
WHEEL: NDArray[np.float32] = _as_box2d(_WHEEL)
