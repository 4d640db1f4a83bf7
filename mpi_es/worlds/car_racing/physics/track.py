"""A race's track: gymnasium's CarRacing._create_track, bit-identical, from the same generator."""

import math

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.shapes import compiled_wrap
from mpi_es.worlds.car_racing.physics.arrays import CHECKPOINTS, Physics
from mpi_es.worlds.car_racing.state import POLYGON_COUNT, SCALE, TILE_COUNT, TILES, World
from mpi_es.worlds.numpy_random import uniform

# As in gymnasium's car_racing.py
TRACK_RAD = 900 / SCALE
TRACK_DETAIL_STEP = 21 / SCALE
TRACK_TURN_RATE = 0.31
TRACK_WIDTH = 40 / SCALE
BORDER = 8 / SCALE
BORDER_MIN_COUNT = 4
START_ALPHA = 2 * math.pi * (-0.5) / CHECKPOINTS
LAPS = 4  # the walk goes on until it has passed the start more often

ALPHA, BETA, X, Y = range(4)  # places in a row of Physics.path


@compiled()
def make_track(world: World, physics: Physics, generator: NDArray[np.uint64]) -> None:
    """Draw tracks until one closes; then write its tiles and kerbs."""
    length = 0
    while length == 0:
        _draw_checkpoints(physics.checkpoints, generator)
        length = _close(physics.path, _walk(physics.path, physics.checkpoints))
    _mark_kerbs(physics.kerb, physics.path, length)
    _lay_tiles(world, physics, length)
    for i in range(3):  # one by one: numba takes seconds to compile the error of slices that do not fit
        world.start[i] = physics.path[0, BETA + i]


@compiled()
def _draw_checkpoints(checkpoints: NDArray[np.float64], generator: NDArray[np.uint64]) -> None:
    """Draw the points that the track heads for: angle, x and y each."""
    for c in range(CHECKPOINTS):
        noise = uniform(generator, 0.0, 2 * math.pi * 1 / CHECKPOINTS)
        alpha = 2 * math.pi * c / CHECKPOINTS + noise
        rad = uniform(generator, TRACK_RAD / 3, TRACK_RAD)
        if c == 0:
            alpha, rad = 0.0, 1.5 * TRACK_RAD
        if c == CHECKPOINTS - 1:
            alpha, rad = 2 * math.pi * c / CHECKPOINTS, 1.5 * TRACK_RAD
        checkpoints[c, 0] = alpha
        checkpoints[c, 1] = rad * math.cos(alpha)
        checkpoints[c, 2] = rad * math.sin(alpha)


@compiled()
def _walk(path: NDArray[np.float64], checkpoints: NDArray[np.float64]) -> int:
    """Go from one checkpoint to another, five times around; return the number of steps."""
    x, y, beta = 1.5 * TRACK_RAD, 0.0, 0.0
    target, laps, visited_other_side = 0, 0, False
    for step in range(TILES):
        alpha = math.atan2(y, x)
        if visited_other_side and alpha > 0:
            laps += 1
            visited_other_side = False
        if alpha < 0:
            visited_other_side = True
            alpha += 2 * math.pi
        alpha, target = _find_target(checkpoints, alpha, target)
        right_x, right_y = math.cos(beta), math.sin(beta)
        checkpoint = checkpoints[target % CHECKPOINTS]
        side = right_x * (checkpoint[1] - x) + right_y * (checkpoint[2] - y)
        previous_beta, beta = _turn(side * SCALE, alpha, beta)
        x -= right_y * TRACK_DETAIL_STEP
        y += right_x * TRACK_DETAIL_STEP
        path[step, ALPHA], path[step, BETA] = alpha, previous_beta * 0.5 + beta * 0.5
        path[step, X], path[step, Y] = x, y
        if laps > LAPS:
            return step + 1
    return TILES


@compiled()
def _find_target(checkpoints: NDArray[np.float64], alpha: float, target: int) -> tuple[float, int]:
    """Return alpha, less whole turns, and the first checkpoint from `target` on that is not behind it."""
    while checkpoints[target % CHECKPOINTS, 0] < alpha:
        target += 1
        if target % CHECKPOINTS == 0:
            alpha -= 2 * math.pi
    return alpha, target


@compiled()
def _turn(side: float, alpha: float, beta: float) -> tuple[float, float]:
    """Return the heading without whole turns, and the heading turned towards the target.

    Args:
        side: the target's distance to the right, six to a metre.
    """
    while beta - alpha > 1.5 * math.pi:
        beta -= 2 * math.pi
    while beta - alpha < -1.5 * math.pi:
        beta += 2 * math.pi
    turned = beta
    if side > 0.3:
        turned -= min(TRACK_TURN_RATE, abs(0.001 * side))
    if side < -0.3:
        turned += min(TRACK_TURN_RATE, abs(0.001 * side))
    return beta, turned


@compiled()
def _close(path: NDArray[np.float64], steps: int) -> int:
    """Keep the last whole lap, and return its length; 0 if there is none or its ends do not meet."""
    last, first = -1, -1
    i = steps - 1
    while i > 0 and first == -1:
        if path[i, ALPHA] > START_ALPHA and path[i - 1, ALPHA] <= START_ALPHA:
            last, first = (i, -1) if last == -1 else (last, i)
        i -= 1
    if first == -1:
        return 0
    length = last - 1 - first
    for i in range(length):
        for place in range(4):
            path[i, place] = path[first + i, place]
    gap_x = math.cos(path[0, BETA]) * (path[0, X] - path[length - 1, X])
    gap_y = math.sin(path[0, BETA]) * (path[0, Y] - path[length - 1, Y])
    return length if math.sqrt(gap_x * gap_x + gap_y * gap_y) <= TRACK_DETAIL_STEP else 0


@compiled()
def _mark_kerbs(kerb: NDArray[np.uint8], path: NDArray[np.float64], length: int) -> None:
    """Mark the hard turns, and the tiles before them. Indices below 0 count from the end, as in Python."""
    for i in range(length):
        hard, one_side = True, 0
        for back in range(BORDER_MIN_COUNT):
            turn = path[(i - back) % length, BETA] - path[(i - back - 1) % length, BETA]
            hard &= abs(turn) > TRACK_TURN_RATE * 0.2
            one_side += (turn > 0) - (turn < 0)
        kerb[i] = hard and abs(one_side) == BORDER_MIN_COUNT
    for i in range(length):
        for back in range(BORDER_MIN_COUNT):
            kerb[(i - back) % length] |= kerb[i]


@compiled()
def _lay_tiles(world: World, physics: Physics, length: int) -> None:
    """Write the polygons of tiles and kerbs, in gymnasium's order of drawing, and the tiles for Box2D."""
    count = 0
    for i in range(length):
        here, before = physics.path[i], physics.path[(i - 1) % length]
        _quad(world.polygons[count], here, before, -TRACK_WIDTH, TRACK_WIDTH)
        for channel in range(3):
            world.colours[count, channel] = int(physics.road_colour[channel] + 0.01 * (i % 3) * 255)
        world.tile[count], physics.polygon[i] = i, count
        _lay_in_box2d(physics, world.polygons[count], i)
        count += 1
        if physics.kerb[i]:
            turn = before[BETA] - here[BETA]
            side = float((turn > 0) - (turn < 0))
            _quad(world.polygons[count], here, before, side * TRACK_WIDTH, side * (TRACK_WIDTH + BORDER))
            world.colours[count, 0] = 255
            world.colours[count, 1:] = 255 if i % 2 == 0 else 0
            world.tile[count] = -1
            count += 1
    world.counts[:] = 0
    world.counts[POLYGON_COUNT], world.counts[TILE_COUNT] = count, length
    world.visited[:length] = 0
    physics.touched[:length] = 0


@compiled()
def _quad(
    corners: NDArray[np.float64],
    here: NDArray[np.float64],
    before: NDArray[np.float64],
    left: float,
    right: float,
) -> None:
    """Write the four corners of a strip of road between two points of the path.

    Args:
        left: offset from the path, metres to the right.
        right: likewise.
    """
    corners[0, 0], corners[0, 1] = _right_of(here, left)
    corners[1, 0], corners[1, 1] = _right_of(here, right)
    corners[2, 0], corners[2, 1] = _right_of(before, right)
    corners[3, 0], corners[3, 1] = _right_of(before, left)


@compiled()
def _right_of(point: NDArray[np.float64], offset: float) -> tuple[float, float]:
    """Return the point `offset` metres to the right of a point of the path."""
    return point[X] + offset * math.cos(point[BETA]), point[Y] + offset * math.sin(point[BETA])


@compiled()
def _lay_in_box2d(physics: Physics, corners: NDArray[np.float64], tile: int) -> None:
    """Store a tile as Box2D has it: in float32, in the order of its gift wrapping, with a bounding box."""
    rounded = np.empty((4, 2), np.float32)
    physics.boxes[:2, tile], physics.boxes[2:, tile] = np.inf, -np.inf
    for i in range(4):
        for axis in range(2):
            rounded[i, axis] = corners[i, axis]
            physics.boxes[axis, tile] = min(physics.boxes[axis, tile], rounded[i, axis])
            physics.boxes[2 + axis, tile] = max(physics.boxes[2 + axis, tile], rounded[i, axis])
    physics.sizes[tile] = compiled_wrap(rounded, physics.vertices[tile])
