"""The car in the close picture: painted as pygame does, into a window of 1000x800, then averaged over 96x96.

The camera holds the car in place, so the window never moves. It is painted pixel by pixel, since the car's
parts overlap and its stripes are thinner than a pixel of the small picture.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.physics.bodies import (
    HULL,
    MOST_VERTICES,
    SIZE,
    WHEEL,
    WHEEL_R,
    WHEEL_W,
    stripe_ends,
)
from mpi_es.worlds.car_racing.picture.camera import Camera, project_from_body
from mpi_es.worlds.car_racing.picture.close.coverage import GROUP
from mpi_es.worlds.car_racing.picture.pygame_polygon import extent, find_runs
from mpi_es.worlds.car_racing.picture.sizes import SIDE, WINDOW_H, WINDOW_W
from mpi_es.worlds.car_racing.picture.smoothscale import (
    ONE,
    X_END,
    X_LEAD,
    X_START,
    X_TRAIL,
    Y_END,
    Y_LEAD,
    Y_START,
    Y_TRAIL,
)

# The car is within 26 pixels of x = 500 and 43 of y = 200: in these rows and columns of 96x96
FIRST_ROW, ROWS = 66, 12
LAST_ROW = FIRST_ROW + ROWS - 1
FIRST_COLUMN, COLUMNS = 45, 6
GROUPS = 1 << FIRST_COLUMN // GROUP | 1 << (FIRST_COLUMN + COLUMNS - 1) // GROUP  # of columns, a bit each
TOP, LINES = 550, 100  # just those rows, before they are shrunk
BOTTOM = WINDOW_H - TOP - LINES  # the same, y pointing up: the picture is turned upside down at the end
LEFT, PIXELS = 468, 64  # the pixels that those columns touch, 468.75 to 531.25


# Paints of the window: numbers whose sums, of up to 9 lines in 64ths, can be taken apart into painted lines,
# lines of stripe and lines of hull. Of numpy's type: numba would compile `_fill` for each literal.
BITS, UNIT = 10, 64
NOTHING, TYRE = np.uint32(0), np.uint32(1)
STRIPE, PAINTED_HULL = np.uint32(1 + (1 << BITS)), np.uint32(1 + (1 << 2 * BITS))
STRIPE_LIGHT, HULL_LIGHT = np.float32(77), np.float32(204)  # grey; red
AREA = np.float32(SIDE / WINDOW_W * SIDE / WINDOW_H / UNIT)  # of a 64th of a pixel, in pixels of 96x96
INDEX = np.arange(PIXELS, dtype=np.int32)
HULL_BODY: Any = np.int64(0)  # in World.transforms; a literal would make numba compile `_paint` twice


class Bodywork(NamedTuple):
    """Scratch space."""

    wheel: NDArray[np.float64]  # (4, 2) WHEEL
    hull: NDArray[np.float64]  # (4, 8, 2) HULL; a polygon with fewer corners repeats its last one
    stripe: NDArray[np.float64]  # (4, 2)
    zoom: NDArray[np.float64]  # (1,) what hull_window was painted for
    hull_window: NDArray[np.uint32]  # (LINES, PIXELS) the hull's paint, y pointing up
    window: NDArray[np.uint32]  # (LINES, PIXELS) all paints
    x: NDArray[np.int64]  # (8,) a polygon's corners in the window
    y: NDArray[np.int64]  # (8,)
    ends: NDArray[np.int32]  # (2, LINES) of its run on each line, from its lowest line on
    sums: NDArray[np.uint32]  # (PIXELS,) one row's paints
    columns: NDArray[np.float32]  # (3, PIXELS) its lines of any paint, of stripe and of hull, in 64ths
    lights: NDArray[np.float32]  # (ROWS, 3, COLUMNS) red, green or blue, and coverage


def allocate() -> Bodywork:
    """Return the scratch space."""
    corners = np.arange(MOST_VERTICES)
    return Bodywork(
        wheel=WHEEL.astype(np.float64),
        hull=np.array([part[np.minimum(corners, len(part) - 1)] for part in HULL], np.float64),
        stripe=np.zeros((4, 2)),
        zoom=np.zeros(1),
        hull_window=np.zeros((LINES, PIXELS), np.uint32),
        window=np.zeros((LINES, PIXELS), np.uint32),
        x=np.zeros(MOST_VERTICES, np.int64),
        y=np.zeros(MOST_VERTICES, np.int64),
        ends=np.zeros((2, LINES), np.int32),
        sums=np.zeros(PIXELS, np.uint32),
        columns=np.zeros((3, PIXELS), np.float32),
        lights=np.zeros((ROWS, 3, COLUMNS), np.float32),
    )


@compiled()
def paint_car(
    transforms: NDArray[np.float32], phase: NDArray[np.float64], camera: Camera, car: Bodywork
) -> None:
    """Fill car.lights: gymnasium's `Car.draw` without the skid marks, which observations do not show."""
    if camera.zoom != car.zoom[0]:
        # The camera turns with the hull, so that only the zoom changes the hull's pixels.
        car.zoom[0] = camera.zoom
        car.hull_window.fill(NOTHING)
        for part in range(len(car.hull)):
            _paint(car.hull[part], transforms, HULL_BODY, camera, car, car.hull_window, PAINTED_HULL)
    for line in range(LINES):
        for pixel in range(PIXELS):
            car.window[line, pixel] = car.hull_window[line, pixel]
    for wheel in range(4):
        _paint(car.wheel, transforms, 1 + wheel, camera, car, car.window, TYRE)
        if _turn_stripe(phase[wheel], car.stripe):
            _paint(car.stripe, transforms, 1 + wheel, camera, car, car.window, STRIPE)
    _average(car)


@compiled()
def _turn_stripe(phase: float, stripe: NDArray[np.float64]) -> bool:
    """Set the part of a wheel's tread that its light stripe takes, and return whether it is on top."""
    seen, begin, end = stripe_ends(phase)
    for i in range(4):
        stripe[i, 0] = SIZE * WHEEL_W if 0 < i < 3 else -SIZE * WHEEL_W
        stripe[i, 1] = SIZE * WHEEL_R * (begin if i < 2 else end)
    return seen


@compiled()
def _paint(
    polygon: NDArray[np.float64],
    transforms: NDArray[np.float32],
    body: int,
    camera: Camera,
    car: Bodywork,
    window: NDArray[np.uint32],
    paint: np.uint32,
) -> None:
    """Paint a body's polygon, behind the hull, its corners cut to whole pixels as pygame does."""
    for i in range(len(polygon)):
        x, y = np.float32(polygon[i, 0]), np.float32(polygon[i, 1])
        column, line = project_from_body(camera, transforms, body, x, y)
        car.x[i], car.y[i] = column - LEFT, line - BOTTOM
    low, high = extent(car.y, len(polygon))
    if low < 0 or high >= LINES:
        return
    first, second = car.ends[0], car.ends[1]
    find_runs(car.x, car.y, len(polygon), first, second)
    for i in range(high - low + 1):
        _fill_line(window[low + i], min(first[i], second[i]), max(first[i], second[i]), paint)


@compiled()
def _fill_line(line: NDArray[np.uint32], first: np.int32, last: np.int32, paint: np.uint32) -> None:
    """Fill a line, behind the hull. It tests all pixels, which is faster in vectors than testing some."""
    for pixel in range(PIXELS):
        inside = (first <= INDEX[pixel]) & (INDEX[pixel] <= last) & (line[pixel] != PAINTED_HULL)
        line[pixel] = paint if inside else line[pixel]


@compiled()
def _average(car: Bodywork) -> None:
    """Average the window over the pixels of 96x96, from its highest line down."""
    for row in range(ROWS):
        y = FIRST_ROW + row
        car.sums.fill(0)
        for line in range(max(Y_START[y] - 1, TOP), Y_END[y] + 1):
            share = Y_LEAD[y] if line < Y_START[y] else (Y_TRAIL[y] if line == Y_END[y] else ONE)
            _add_line(car.sums, car.window[LINES - 1 - (line - TOP)], share * UNIT // ONE)
        _take_apart(car.sums, car.columns)
        for column in range(COLUMNS):
            painted = _mean(car.columns[0], FIRST_COLUMN + column)
            stripe = _mean(car.columns[1], FIRST_COLUMN + column) * STRIPE_LIGHT
            hull = _mean(car.columns[2], FIRST_COLUMN + column) * HULL_LIGHT
            car.lights[row, 0, column] = stripe + hull
            car.lights[row, 1, column] = stripe
            car.lights[row, 2, column] = painted


@compiled()
def _add_line(sums: NDArray[np.uint32], paints: NDArray[np.uint32], share: int) -> None:
    """Add a line's share."""
    for pixel in range(PIXELS):
        sums[pixel] += paints[pixel] * share


@compiled()
def _take_apart(sums: NDArray[np.uint32], columns: NDArray[np.float32]) -> None:
    """Separate the three numbers of each sum."""
    for place in range(3):
        column, shift = columns[place], np.uint32(BITS * place)
        for pixel in range(PIXELS):
            column[pixel] = np.int32((sums[pixel] >> shift) & np.uint32((1 << BITS) - 1))


@compiled()
def _mean(column_sums: NDArray[np.float32], column: int) -> np.float32:
    """Return the mean of a column's pixels."""
    start, end = X_START[column] - LEFT, X_END[column] - LEFT
    total = column_sums[start - 1] * np.float32(X_LEAD[column] / ONE)
    total += column_sums[end] * np.float32(X_TRAIL[column] / ONE)
    for pixel in range(start, end):
        total += column_sums[pixel]
    mean: np.float32 = total * AREA
    return mean
