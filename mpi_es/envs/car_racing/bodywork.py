"""The car in the close picture: painted as pygame does, into a window of its 1000x800, then averaged over 96x96.

The camera holds the car in place, so the window never moves. It is painted pixel by pixel, since the car's
parts overlap and its stripes are thinner than a pixel of the small picture.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing import state
from mpi_es.envs.car_racing.camera import Camera, look
from mpi_es.envs.car_racing.shrinking import (
    HEIGHT,
    ONE,
    SIDE,
    WIDTH,
    X_END,
    X_LEAD,
    X_START,
    X_TRAIL,
    Y_END,
    Y_LEAD,
    Y_START,
    Y_TRAIL,
)
from mpi_es.jit import compiled

# The car is within 26 pixels of x = 500 and 43 of y = 200: in these rows and columns of 96x96
FIRST_ROW, ROWS = 66, 12
FIRST_COLUMN, COLUMNS = 45, 6
TOP, LINES = 550, 100  # just those rows, before they are shrunk
BOTTOM = HEIGHT - TOP - LINES  # the same, y pointing up: the picture is turned upside down at the end
LEFT, PIXELS = 468, 64  # the pixels that those columns touch, 468.75 to 531.25
AREA = np.float32(SIDE / WIDTH * SIDE / HEIGHT / ONE)  # of a share of a pixel, in pixels of 96x96

# car_dynamics.py's polygons, in the order that Box2D stores them: counterclockwise from the rightmost corner,
# the lower one of two. The order matters, since pygame rounds the ends of a line by the order of the edges.
SIZE = 0.02
WHEEL_W, WHEEL_R = 14 * SIZE, 27 * SIZE
WHEEL = [(14, -27), (14, 27), (-14, 27), (-14, -27)]
HULL = [
    [(60, 110), (60, 130), (-60, 130), (-60, 110)],
    [(20, 20), (15, 120), (-15, 120), (-20, 20)],
    [(50, -40), (50, -10), (25, 20), (-25, 20), (-50, -10), (-50, -40), (-20, -90), (20, -90)],
    [(50, -120), (50, -90), (-50, -90), (-50, -120)],
]
STRIPE_ANGLE = 1.2  # radians of a wheel's turn that its stripe takes

# Paints of the window, and how much red and other light they have. Of numpy's type, since numba would compile
# `_fill` anew for every literal.
NOTHING, TYRE, STRIPE, PAINTED_HULL = (np.uint8(i) for i in range(4))
STRIPE_LIGHT, HULL_LIGHT = np.int32(77), np.int32(204)


class Bodywork(NamedTuple):
    """Scratch space."""

    wheel: NDArray[np.float64]  # (4, 2) WHEEL
    hull: NDArray[np.float64]  # (4, 8, 2) HULL; what a polygon lacks in corners is its last one repeated
    stripe: NDArray[np.float64]  # (4, 2)
    zoom: NDArray[np.float64]  # (1,) what hull_window was painted for
    hull_window: NDArray[np.uint8]  # (LINES, PIXELS) the hull's paint, y pointing up
    window: NDArray[np.uint8]  # (LINES, PIXELS) all paints
    points: NDArray[np.int64]  # (8, 2) a polygon's corners in the window
    crossings: NDArray[np.int64]  # (LINES, 2) where its edges cross each line
    counts: NDArray[np.int64]  # (LINES,) how many of them did so far
    sums: NDArray[np.int32]  # (3, PIXELS) one row's red, green or blue, and coverage
    lights: NDArray[np.float32]  # (ROWS, 3, COLUMNS) the same of 96x96


def allocate() -> Bodywork:
    """Return the scratch space."""
    return Bodywork(
        wheel=np.array(WHEEL) * SIZE,
        hull=np.array([part + part[-1:] * (8 - len(part)) for part in HULL]) * SIZE,
        stripe=np.zeros((4, 2)),
        zoom=np.zeros(1),
        hull_window=np.zeros((LINES, PIXELS), np.uint8),
        window=np.zeros((LINES, PIXELS), np.uint8),
        points=np.zeros((8, 2), np.int64),
        crossings=np.zeros((LINES, 2), np.int64),
        counts=np.zeros(LINES, np.int64),
        sums=np.zeros((3, PIXELS), np.int32),
        lights=np.zeros((ROWS, 3, COLUMNS), np.float32),
    )


@compiled()
def paint_car(
    transforms: NDArray[np.float32], phase: NDArray[np.float64], camera: Camera, car: Bodywork
) -> None:
    """Fill car.lights: gymnasium's `Car.draw` without the skid marks, which observations do not show."""
    if camera.zoom != car.zoom[0]:
        # The camera turns with the hull, so that nothing but its distance changes the hull's look.
        car.zoom[0] = camera.zoom
        car.hull_window[:] = NOTHING
        for part in range(len(car.hull)):
            _paint(car.hull[part], transforms[0], camera, car, car.hull_window, PAINTED_HULL)
    car.window[:] = car.hull_window
    for wheel in range(4):
        transform = transforms[1 + wheel]
        _paint(car.wheel, transform, camera, car, car.window, TYRE)
        if _turn_stripe(phase[wheel], car.stripe):
            _paint(car.stripe, transform, camera, car, car.window, STRIPE)
    _average(car)


@compiled()
def _turn_stripe(angle: float, stripe: NDArray[np.float64]) -> bool:
    """Set the part of a wheel's tread that its light stripe takes, and return whether it is on top."""
    s1, s2 = math.sin(angle), math.sin(angle + STRIPE_ANGLE)
    c1, c2 = math.cos(angle), math.cos(angle + STRIPE_ANGLE)
    if s1 > 0:
        c1 = np.sign(c1)
    if s2 > 0:
        c2 = np.sign(c2)
    stripe[:, 0] = WHEEL_W
    stripe[0, 0] = stripe[3, 0] = -WHEEL_W
    stripe[:2, 1] = WHEEL_R * c1
    stripe[2:, 1] = WHEEL_R * c2
    return not (s1 > 0 and s2 > 0)


@compiled()
def _paint(
    polygon: NDArray[np.float64],
    transform: NDArray[np.float32],
    camera: Camera,
    car: Bodywork,
    window: NDArray[np.uint8],
    paint: np.uint8,
) -> None:
    """Paint a body's polygon, behind the hull, its corners cut to whole pixels as pygame does."""
    at_x, at_y, sine, cosine = transform[0], transform[1], transform[2], transform[3]
    for i in range(len(polygon)):
        x, y = np.float32(polygon[i, 0]), np.float32(polygon[i, 1])
        world_x = (cosine * x - sine * y) + at_x  # in float32, as Box2D
        world_y = (sine * x + cosine * y) + at_y
        seen_x, seen_y = look(camera, np.float64(world_x), np.float64(world_y))
        car.points[i, 0], car.points[i, 1] = int(seen_x) - LEFT, int(seen_y) - BOTTOM
    _fill(car, len(polygon), window, paint)


@compiled()
def _fill(car: Bodywork, corners: int, window: NDArray[np.uint8], paint: np.uint8) -> None:
    """Fill a convex polygon as pygame.draw.polygon does: with its lowest and highest line, and both ends of each."""
    points, crossings = car.points, car.crossings
    low, high = points[:corners, 1].min(), points[:corners, 1].max()
    if low < 0 or high >= LINES:
        return
    car.counts[low : high + 1] = 0
    if low == high:  # pygame's special case, in the first second
        crossings[low, 0], crossings[low, 1] = points[:corners, 0].min(), points[:corners, 0].max()
    for i in range(corners):
        before = i - 1 if i > 0 else corners - 1
        if points[before, 1] < points[i, 1]:
            _cross(points[before], points[i], high, crossings, car.counts)
        elif points[before, 1] > points[i, 1]:
            _cross(points[i], points[before], high, crossings, car.counts)
    for line in range(low, high + 1):
        a, b = crossings[line, 0], crossings[line, 1]
        row = window[line]
        for pixel in range(max(min(a, b), 0), min(max(a, b), PIXELS - 1) + 1):
            row[pixel] = PAINTED_HULL if row[pixel] == PAINTED_HULL else paint


@compiled()
def _cross(
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    high: int,
    crossings: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Find where an edge crosses the lines; its upper end counts only in the polygon's highest line.

    The first edge to cross a line is rounded down, the second up, whichever of them is on the left.
    """
    width, height = np.float32(upper[0] - lower[0]), np.float32(upper[1] - lower[1])
    for line in range(lower[1], upper[1] + (upper[1] == high)):
        at = np.float32(line - lower[1]) * width / height
        if counts[line] == 0:
            crossings[line, 0] = lower[0] + int(math.floor(at))
        else:
            crossings[line, 1] = lower[0] + int(math.ceil(at))
        counts[line] += 1


@compiled()
def _average(car: Bodywork) -> None:
    """Average the window over the pixels of 96x96, from its highest line down."""
    for row in range(ROWS):
        y = FIRST_ROW + row
        car.sums[:] = 0
        for line in range(max(Y_START[y] - 1, TOP), Y_END[y] + 1):
            share = Y_LEAD[y] if line < Y_START[y] else (Y_TRAIL[y] if line == Y_END[y] else ONE)
            _add_line(car.sums, car.window[LINES - 1 - (line - TOP)], np.int32(share))
        for lane in range(3):
            for column in range(COLUMNS):
                car.lights[row, lane, column] = _mean(car.sums[lane], FIRST_COLUMN + column)


@compiled()
def _add_line(sums: NDArray[np.int32], paints: NDArray[np.uint8], share: np.int32) -> None:
    """Add a line's red, its green or blue, and whether it is painted at all."""
    red, other, painted = sums[0], sums[1], sums[2]
    for pixel in range(PIXELS):
        stripe = STRIPE_LIGHT * share if paints[pixel] == STRIPE else 0
        hull = HULL_LIGHT * share if paints[pixel] == PAINTED_HULL else 0
        red[pixel] += stripe + hull
        other[pixel] += stripe
        painted[pixel] += share if paints[pixel] != NOTHING else 0


@compiled()
def _mean(sums: NDArray[np.int32], column: int) -> np.float32:
    """Return the mean of a column's pixels."""
    start, end = X_START[column] - LEFT, X_END[column] - LEFT
    total = np.float32(sums[start - 1]) * np.float32(X_LEAD[column] / ONE)
    total += np.float32(sums[end]) * np.float32(X_TRAIL[column] / ONE)
    for pixel in range(start, end):
        total += np.float32(sums[pixel])
    return total * AREA
