"""Whether a tile and a part of the car touch: Box2D's b2TestOverlap, which is the distance by GJK in float32.

A simplex is up to three corners of the polygons' difference: a row each of the tile's corner, the car's
corner, the way between them, and the corner's weight in the point that is nearest to the origin.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing.physics.arrays import SIMPLEX_WIDTH
from mpi_es.envs.car_racing.physics.bodies import FIXTURE_BODY, FIXTURE_SIZE, FIXTURE_VERTICES
from mpi_es.jit.decorator import compiled

F32 = np.float32
Floats = NDArray[np.float32]
Pairs = NDArray[np.int64]

TILE_X, TILE_Y, CAR_X, CAR_Y, WAY_X, WAY_Y, WEIGHT = range(7)  # places in a row of the simplex

# Box2D's skins: b2_polygonRadius (twice b2_linearSlop) around each of the two polygons
SKINS = F32(2) * F32(0.005) + F32(2) * F32(0.005)
EPSILON = F32(np.finfo(np.float32).eps)
TOUCHING = F32(10) * EPSILON  # distance below which polygons count as touching
MOST_ITERATIONS = 20  # b2Distance's k_maxIters
ZERO, ONE = F32(0), F32(1)
# Rows of the simplex; numba would compile a function anew for each literal number that it is called with
_ROWS: Any = (np.int64(0), np.int64(1), np.int64(2))
FIRST, SECOND, THIRD = _ROWS


@compiled()
def touches(
    transforms: Floats,
    corners: Floats,
    vertices: Floats,
    sizes: NDArray[np.int32],
    simplex: Floats,
    supports: Pairs,
    tile: int,
    fixture: int,
) -> bool:
    """Return whether a tile touches a part of the car; the arrays are World's and Physics'."""
    simplex[0, WEIGHT] = ONE
    sine, cosine = transforms[FIXTURE_BODY[fixture], 2], transforms[FIXTURE_BODY[fixture], 3]
    now, saved, count = supports[0], supports[1], SECOND
    # b2Distance, from the first corners on
    _add(simplex, now, FIRST, vertices[tile], FIRST, corners[fixture], FIRST)
    for _ in range(MOST_ITERATIONS):
        saved_count = count
        _copy_pairs(now, saved)
        count = _reduce(simplex, now, count)
        if count == 3:
            break  # the polygons overlap
        d_x, d_y = _search_direction(simplex, count)
        if d_x * d_x + d_y * d_y < EPSILON * EPSILON:
            break
        a = _support(vertices[tile], sizes[tile], -d_x, -d_y)
        across, along = cosine * d_x + sine * d_y, -sine * d_x + cosine * d_y
        b = _support(FIXTURE_VERTICES[fixture], FIXTURE_SIZE[fixture], across, along)
        _add(simplex, now, count, vertices[tile], a, corners[fixture], b)
        if _repeats(saved, saved_count, a, b):
            break
        count += 1
    distance = _witness_distance(simplex, count)
    return bool(distance <= SKINS or distance <= EPSILON or distance - SKINS < TOUCHING)


@compiled()
def _add(simplex: Floats, pairs: Pairs, row: int, tile: Floats, a: int, part: Floats, b: int) -> None:
    """Write a row of the simplex: the tile's corner a and the car's corner b."""
    simplex[row, TILE_X], simplex[row, TILE_Y] = tile[a, 0], tile[a, 1]
    simplex[row, CAR_X], simplex[row, CAR_Y] = part[b, 0], part[b, 1]
    simplex[row, WAY_X], simplex[row, WAY_Y] = part[b, 0] - tile[a, 0], part[b, 1] - tile[a, 1]
    pairs[row, 0], pairs[row, 1] = a, b


@compiled()
def _support(vertices: Floats, size: int, d_x: np.float32, d_y: np.float32) -> int:
    """Return the first of the corners that lie furthest in a direction."""
    best, most = 0, vertices[0, 0] * d_x + vertices[0, 1] * d_y
    for i in range(1, size):
        value = vertices[i, 0] * d_x + vertices[i, 1] * d_y
        if value > most:
            best, most = i, value
    return best


@compiled()
def _copy_pairs(source: Pairs, target: Pairs) -> None:
    """Copy the corners' numbers; one by one, for numba is slow to assign slices."""
    for row in range(3):
        target[row, 0], target[row, 1] = source[row, 0], source[row, 1]


@compiled()
def _copy_row(simplex: Floats, pairs: Pairs, source: int, target: int) -> None:
    """Copy a row of the simplex with the numbers of its corners."""
    for place in range(SIMPLEX_WIDTH):
        simplex[target, place] = simplex[source, place]
    pairs[target, 0], pairs[target, 1] = pairs[source, 0], pairs[source, 1]


@compiled()
def _repeats(saved: Pairs, count: int, a: int, b: int) -> bool:
    """Return whether the simplex already had this pair of corners."""
    repeats = False
    for i in range(count):
        repeats |= saved[i, 0] == a and saved[i, 1] == b
    return repeats


@compiled()
def _search_direction(simplex: Floats, count: int) -> tuple[np.float32, np.float32]:
    """Return the direction to the origin, from a corner or square to an edge."""
    x, y = simplex[0, WAY_X], simplex[0, WAY_Y]
    if count == 1:
        return -x, -y
    e_x, e_y = simplex[1, WAY_X] - x, simplex[1, WAY_Y] - y
    if e_x * -y - e_y * -x > 0:
        return -e_y, e_x
    return e_y, -e_x


@compiled()
def _witness_distance(simplex: Floats, count: int) -> np.float32:
    """Return the distance between the nearest points of the two polygons."""
    if count == 3:
        return ZERO
    x, y = simplex[0, TILE_X] - simplex[0, CAR_X], simplex[0, TILE_Y] - simplex[0, CAR_Y]
    if count == 2:
        u, v = simplex[0, WEIGHT], simplex[1, WEIGHT]
        x = u * simplex[0, TILE_X] + v * simplex[1, TILE_X] - (u * simplex[0, CAR_X] + v * simplex[1, CAR_X])
        y = u * simplex[0, TILE_Y] + v * simplex[1, TILE_Y] - (u * simplex[0, CAR_Y] + v * simplex[1, CAR_Y])
    return F32(math.sqrt(x * x + y * y))


@compiled()
def _reduce(simplex: Floats, supports: Pairs, count: int) -> int:
    """Keep the corners between which the point nearest to the origin lies; return their number."""
    if count == 1:
        return 1
    if count == 2:
        return _reduce_edge(simplex, supports)
    return _reduce_triangle(simplex, supports)


@compiled()
def _reduce_edge(simplex: Floats, supports: Pairs) -> int:
    """Weigh the two ends of an edge, or keep one: b2Simplex::Solve2."""
    to_first, to_second = _along(simplex, FIRST, SECOND)
    if to_second <= 0:
        return _keep_corner(simplex, supports, FIRST)
    if to_first <= 0:
        return _keep_corner(simplex, supports, SECOND)
    return _keep_edge(simplex, supports, FIRST, SECOND, to_first, to_second)


@compiled()
def _reduce_triangle(simplex: Floats, supports: Pairs) -> int:
    """Find the corner, edge or inside nearest to the origin: b2Simplex::Solve3, in its order of asking."""
    d12_1, d12_2 = _along(simplex, FIRST, SECOND)
    d13_1, d13_2 = _along(simplex, FIRST, THIRD)
    d23_1, d23_2 = _along(simplex, SECOND, THIRD)
    w1_x, w1_y = simplex[0, WAY_X], simplex[0, WAY_Y]
    e12_x, e12_y = simplex[1, WAY_X] - w1_x, simplex[1, WAY_Y] - w1_y
    e13_x, e13_y = simplex[2, WAY_X] - w1_x, simplex[2, WAY_Y] - w1_y
    turn = e12_x * e13_y - e12_y * e13_x
    d123_1 = turn * _cross(simplex, SECOND, THIRD)
    d123_2 = turn * _cross(simplex, THIRD, FIRST)
    d123_3 = turn * _cross(simplex, FIRST, SECOND)
    if d12_2 <= 0 and d13_2 <= 0:
        return _keep_corner(simplex, supports, FIRST)
    if d12_1 > 0 and d12_2 > 0 and d123_3 <= 0:
        return _keep_edge(simplex, supports, FIRST, SECOND, d12_1, d12_2)
    if d13_1 > 0 and d13_2 > 0 and d123_2 <= 0:
        return _keep_edge(simplex, supports, FIRST, THIRD, d13_1, d13_2)
    if d12_1 <= 0 and d23_2 <= 0:
        return _keep_corner(simplex, supports, SECOND)
    if d13_1 <= 0 and d23_1 <= 0:
        return _keep_corner(simplex, supports, THIRD)
    if d23_1 > 0 and d23_2 > 0 and d123_1 <= 0:
        return _keep_edge(
            simplex, supports, THIRD, SECOND, d23_2, d23_1
        )  # the third corner comes first, as in Box2D
    return 3


@compiled()
def _along(simplex: Floats, i: int, j: int) -> tuple[np.float32, np.float32]:
    """Return the (unscaled) weights of the ends of an edge in its point nearest to the origin."""
    i_x, i_y, j_x, j_y = simplex[i, WAY_X], simplex[i, WAY_Y], simplex[j, WAY_X], simplex[j, WAY_Y]
    e_x, e_y = j_x - i_x, j_y - i_y
    return j_x * e_x + j_y * e_y, -(i_x * e_x + i_y * e_y)


@compiled()
def _cross(simplex: Floats, i: int, j: int) -> np.float32:
    """Return the cross product of two rows' ways."""
    return F32(simplex[i, WAY_X] * simplex[j, WAY_Y] - simplex[i, WAY_Y] * simplex[j, WAY_X])


@compiled()
def _keep_corner(simplex: Floats, supports: Pairs, i: int) -> int:
    """Make row i the whole simplex."""
    _copy_row(simplex, supports, i, FIRST)
    simplex[0, WEIGHT] = ONE
    return 1


@compiled()
def _keep_edge(simplex: Floats, supports: Pairs, i: int, j: int, d_i: np.float32, d_j: np.float32) -> int:
    """Make rows i and j the whole simplex, with their weights."""
    inverse = ONE / (d_i + d_j)
    if i > 0:
        _copy_row(simplex, supports, i, FIRST)
    if j > 1:
        _copy_row(simplex, supports, j, SECOND)
    simplex[0, WEIGHT], simplex[1, WEIGHT] = d_i * inverse, d_j * inverse
    return 2
