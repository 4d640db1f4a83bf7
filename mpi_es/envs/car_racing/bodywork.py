"""The car in the picture: painted as pygame does, into a window of its 1000x800, then averaged over 96x96.

The camera holds the car in place, so the window does not move. Painted pixel by pixel, since the car's parts
overlap and are as narrow as two pixels of the small picture.
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

SIZE = 0.02
WHEEL_W, WHEEL_R = 14 * SIZE, 27 * SIZE
# Box2D stores a polygon counterclockwise from its rightmost corner, the lower one of two. pygame rounds the
# ends of a line by the order of the edges.
WHEEL = np.array([(14, -27), (14, 27), (-14, 27), (-14, -27)]) * SIZE
BUMPER = np.array([(60, 110), (60, 130), (-60, 130), (-60, 110)]) * SIZE
NOSE = np.array([(20, 20), (15, 120), (-15, 120), (-20, 20)]) * SIZE
CABIN = (
    np.array([(50, -40), (50, -10), (25, 20), (-25, 20), (-50, -10), (-50, -40), (-20, -90), (20, -90)]) * SIZE
)
SPOILER = np.array([(50, -120), (50, -90), (-50, -90), (-50, -120)]) * SIZE

# Paints of the window. The tyre's coloured stripe is WHEEL_WHITE, (77, 77, 77); the hull is (204, 0, 0).
NOTHING, TYRE, STRIPE, HULL = range(4)
STRIPE_LIGHT, HULL_LIGHT = np.float32(77), np.float32(204)
AREA = np.float32(SIDE / WIDTH * SIDE / HEIGHT)  # of a pixel of 1000x800, in pixels of 96x96
STRIPE_ANGLE = 1.2  # radians of the wheel


class Bodywork(NamedTuple):
    """Scratch space."""

    window: NDArray[np.uint8]  # (LINES, PIXELS) paints, y pointing up
    points: NDArray[np.int64]  # (8, 2) a polygon's corners in the window
    crossings: NDArray[np.int64]  # (LINES, 2) where its edges cross each line
    counts: NDArray[np.int64]  # (LINES,) how many did so far
    sums: NDArray[np.float32]  # (3, PIXELS) paints of one row, in lines
    lights: NDArray[np.float32]  # (ROWS, COLUMNS, 3) red, green or blue, and coverage


def allocate() -> Bodywork:
    """Return the scratch space."""
    return Bodywork(
        window=np.zeros((LINES, PIXELS), np.uint8),
        points=np.zeros((8, 2), np.int64),
        crossings=np.zeros((LINES, 2), np.int64),
        counts=np.zeros(LINES, np.int64),
        sums=np.zeros((3, PIXELS), np.float32),
        lights=np.zeros((ROWS, COLUMNS, 3), np.float32),
    )


@compiled()
def paint_car(world: state.World, camera: Camera, car: Bodywork) -> None:
    """Fill car.lights: gymnasium's `Car.draw`, wheels first, without the skid marks."""
    car.window[:] = NOTHING
    for body in range(1, state.BODIES):
        _paint(world, camera, car, body, WHEEL, TYRE)
        _paint_stripe(world, camera, car, body)
    _paint(world, camera, car, 0, BUMPER, HULL)
    _paint(world, camera, car, 0, NOSE, HULL)
    _paint(world, camera, car, 0, CABIN, HULL)
    _paint(world, camera, car, 0, SPOILER, HULL)
    _average(car)


@compiled()
def _paint(
    world: state.World, camera: Camera, car: Bodywork, body: int, polygon: NDArray[np.float64], paint: int
) -> None:
    """Paint one polygon of a body."""
    for i in range(len(polygon)):
        _place(world, camera, car, body, i, polygon[i, 0], polygon[i, 1])
    _fill(car, len(polygon), paint)


@compiled()
def _paint_stripe(world: state.World, camera: Camera, car: Bodywork, body: int) -> None:
    """Paint the part of a wheel's tread that its coloured stripe takes, where that is on top."""
    angle = world.phase[body - 1]
    s1, s2 = math.sin(angle), math.sin(angle + STRIPE_ANGLE)
    c1, c2 = math.cos(angle), math.cos(angle + STRIPE_ANGLE)
    if s1 > 0 and s2 > 0:
        return
    if s1 > 0:
        c1 = np.sign(c1)
    if s2 > 0:
        c2 = np.sign(c2)
    _place(world, camera, car, body, 0, -WHEEL_W, WHEEL_R * c1)
    _place(world, camera, car, body, 1, WHEEL_W, WHEEL_R * c1)
    _place(world, camera, car, body, 2, WHEEL_W, WHEEL_R * c2)
    _place(world, camera, car, body, 3, -WHEEL_W, WHEEL_R * c2)
    _fill(car, 4, STRIPE)


@compiled()
def _place(world: state.World, camera: Camera, car: Bodywork, body: int, i: int, x: float, y: float) -> None:
    """Set a polygon's corner i, cut to whole pixels as pygame does."""
    at_x, at_y, sine, cosine = world.transforms[body]
    x, y = cosine * x - sine * y + at_x, sine * x + cosine * y + at_y
    seen_x, seen_y = look(camera, x, y)
    car.points[i, 0] = int(seen_x) - LEFT
    car.points[i, 1] = int(seen_y) - BOTTOM


@compiled()
def _fill(car: Bodywork, corners: int, paint: int) -> None:
    """Fill a convex polygon as pygame.draw.polygon does: with its lowest and highest line, and both ends of each."""
    low, high = LINES, -1
    for i in range(corners):
        low, high = min(low, car.points[i, 1]), max(high, car.points[i, 1])
    if low < 0 or high >= LINES:
        return
    car.counts[low : high + 1] = 0
    if low == high:  # pygame's special case, of the first second
        car.crossings[low, 0], car.crossings[low, 1] = PIXELS, -1
        for i in range(corners):
            car.crossings[low, 0] = min(car.crossings[low, 0], car.points[i, 0])
            car.crossings[low, 1] = max(car.crossings[low, 1], car.points[i, 0])
    for i in range(corners):
        before = i - 1 if i > 0 else corners - 1
        if car.points[before, 1] < car.points[i, 1]:
            _cross(car, before, i, high)
        elif car.points[before, 1] > car.points[i, 1]:
            _cross(car, i, before, high)
    for line in range(low, high + 1):
        a, b = car.crossings[line, 0], car.crossings[line, 1]
        for pixel in range(max(min(a, b), 0), min(max(a, b), PIXELS - 1) + 1):
            car.window[line, pixel] = paint


@compiled()
def _cross(car: Bodywork, lower: int, upper: int, high: int) -> None:
    """Find where an edge crosses the lines; it has its upper end only in the polygon's highest line.

    The first edge to cross a line is rounded down, the second up, whichever of them is on the left.
    """
    x, y = car.points[lower, 0], car.points[lower, 1]
    width, height = car.points[upper, 0] - x, car.points[upper, 1] - y
    last = y + height if y + height == high else y + height - 1
    for line in range(y, last + 1):
        count = min(car.counts[line], 1)
        at = np.float32((line - y) * width) / np.float32(height)
        car.crossings[line, count] = x + int(np.floor(at) if count == 0 else np.ceil(at))
        car.counts[line] += 1


@compiled()
def _average(car: Bodywork) -> None:
    """Average the window over the pixels of 96x96, from its highest line down."""
    for row in range(ROWS):
        y = FIRST_ROW + row
        car.sums[:] = 0
        if row > 0:  # the window begins with this row
            _add_line(car, Y_START[y] - 1, Y_LEAD[y])
        for line in range(Y_START[y], Y_END[y]):
            _add_line(car, line, ONE)
        _add_line(car, Y_END[y], Y_TRAIL[y])
        for column in range(COLUMNS):
            for lane in range(3):
                car.lights[row, column, lane] = _mean(car.sums[lane], FIRST_COLUMN + column)


@compiled()
def _add_line(car: Bodywork, line: int, share: int) -> None:
    """Add a line's red, its green or blue, and what is painted at all."""
    paints = car.window[LINES - 1 - (line - TOP)]
    weight = np.float32(share) / np.float32(ONE)
    red, other, painted = car.sums[0], car.sums[1], car.sums[2]
    for pixel in range(PIXELS):
        stripe = STRIPE_LIGHT * weight * np.float32(paints[pixel] == STRIPE)
        red[pixel] += stripe + HULL_LIGHT * weight * np.float32(paints[pixel] == HULL)
        other[pixel] += stripe
        painted[pixel] += weight * np.float32(paints[pixel] != NOTHING)


@compiled()
def _mean(sums: NDArray[np.float32], column: int) -> np.float32:
    """Return the mean of a column's pixels and lines."""
    start, end = X_START[column] - LEFT, X_END[column] - LEFT
    total = sums[start - 1] * np.float32(X_LEAD[column]) + sums[end] * np.float32(X_TRAIL[column])
    total /= np.float32(ONE)
    for pixel in range(start, end):
        total += sums[pixel]
    return total * AREA
