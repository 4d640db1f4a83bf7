"""The distance of a piece of terrain and a body without their skins: b2Distance, which is GJK, in float32.

A simplex is up to three corners of the polygons' difference. A row of it holds the piece's corner, the body's
corner, the vector between them, and the corner's weight in the point nearest to the origin.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.records import Body, Piece, Simplex
from mpi_es.worlds.box2d.settings import EPSILON, F32, HALF, ONE, TWO, ZERO
from mpi_es.worlds.box2d.vectors import Pair, rotate, rotate_back

Transform = tuple[np.float32, np.float32, np.float32, np.float32]  # sine, cosine, x, y
_MOST_ITERATIONS = 20  # k_maxIters


@compiled()
def distance(simplex: Simplex, piece: Piece, body: Body, at: Transform) -> np.float32:
    """Return the distance for a body's frame `at`; start from the simplex, if its size is not 0."""
    sine, cosine, _, _ = at
    _recall(simplex, piece, body, at)
    for _ in range(_MOST_ITERATIONS):
        saved = _save(simplex)
        _reduce(simplex)
        if simplex.size == 3:
            break  # the polygons overlap
        x, y = _search_direction(simplex)
        if x * x + y * y < EPSILON * EPSILON:
            break
        a = support(piece.corners, piece.size, -x, -y)
        across, along = rotate_back(sine, cosine, x, y)
        b = support(body.corners, body.size, across, along)
        _set_row(simplex, simplex.size, piece, body, at, a, b)
        if _repeats(simplex, saved, a, b):
            break
        simplex.size += 1
    simplex.metric = _metric(simplex)
    return _witness_distance(simplex)


@compiled()
def support(corners: NDArray[np.float32], size: int, x: np.float32, y: np.float32) -> int:
    """Return the corner that lies furthest in a direction, the first one in a tie."""
    best, most = 0, corners[0, 0] * x + corners[0, 1] * y
    for i in range(1, size):
        value = corners[i, 0] * x + corners[i, 1] * y
        if value > most:
            best, most = i, value
    return best


@compiled()
def point_at(body: Body, i: int, at: Transform) -> Pair:
    """Return the position of a body's corner, given its frame `at`."""
    sine, cosine, x, y = at
    turned_x, turned_y = rotate(sine, cosine, body.corners[i, 0], body.corners[i, 1])
    return turned_x + x, turned_y + y


@compiled()
def _set_row(simplex: Simplex, row: int, piece: Piece, body: Body, at: Transform, a: int, b: int) -> None:
    """Write a row: the piece's corner a and the body's corner b."""
    terrain_x, terrain_y = piece.corners[a, 0], piece.corners[a, 1]
    body_x, body_y = point_at(body, b, at)
    simplex.piece_corner[row], simplex.body_corner[row] = a, b
    simplex.terrain_x[row], simplex.terrain_y[row] = terrain_x, terrain_y
    simplex.body_x[row], simplex.body_y[row] = body_x, body_y
    simplex.way_x[row], simplex.way_y[row] = body_x - terrain_x, body_y - terrain_y


@compiled()
def _recall(simplex: Simplex, piece: Piece, body: Body, at: Transform) -> None:
    """Place the corners of the last simplex; start again if its metric differs: b2Simplex::ReadCache."""
    for row in range(simplex.size):
        _set_row(simplex, row, piece, body, at, simplex.piece_corner[row], simplex.body_corner[row])
        simplex.weight[row] = ZERO
    if simplex.size > 1:
        before, now = simplex.metric, _metric(simplex)
        if now < HALF * before or TWO * before < now or now < EPSILON:
            simplex.size = 0
    if simplex.size == 0:
        _set_row(simplex, 0, piece, body, at, 0, 0)
        simplex.weight[0] = ONE
        simplex.size = 1


@compiled()
def _save(simplex: Simplex) -> int:
    """Save which corners the rows hold; return the number of rows."""
    for row in range(simplex.size):
        simplex.saved_piece_corner[row] = simplex.piece_corner[row]
        simplex.saved_body_corner[row] = simplex.body_corner[row]
    return int(simplex.size)


@compiled()
def _repeats(simplex: Simplex, saved: int, a: int, b: int) -> bool:
    """Return whether a saved row holds this pair of corners."""
    repeats = False
    for row in range(saved):
        repeats |= simplex.saved_piece_corner[row] == a and simplex.saved_body_corner[row] == b
    return repeats


@compiled()
def _search_direction(simplex: Simplex) -> Pair:
    """Return the direction to the origin, from a corner or perpendicular to an edge."""
    x, y = simplex.way_x[0], simplex.way_y[0]
    if simplex.size == 1:
        return -x, -y
    e_x, e_y = simplex.way_x[1] - x, simplex.way_y[1] - y
    if e_x * -y - e_y * -x > ZERO:
        return -e_y, e_x
    return e_y, -e_x


@compiled()
def _metric(simplex: Simplex) -> np.float32:
    """Return the simplex's length or area: b2Simplex::GetMetric."""
    if simplex.size == 1:
        return ZERO
    if simplex.size == 2:
        x, y = simplex.way_x[0] - simplex.way_x[1], simplex.way_y[0] - simplex.way_y[1]
        return F32(math.sqrt(x * x + y * y))
    x, y = simplex.way_x[1] - simplex.way_x[0], simplex.way_y[1] - simplex.way_y[0]
    return F32(x * (simplex.way_y[2] - simplex.way_y[0]) - y * (simplex.way_x[2] - simplex.way_x[0]))


@compiled()
def _witness_distance(simplex: Simplex) -> np.float32:
    """Return the distance between the nearest points."""
    if simplex.size == 3:
        return ZERO
    x, y = simplex.terrain_x[0] - simplex.body_x[0], simplex.terrain_y[0] - simplex.body_y[0]
    if simplex.size == 2:
        u, v = simplex.weight[0], simplex.weight[1]
        x = u * simplex.terrain_x[0] + v * simplex.terrain_x[1]
        x -= u * simplex.body_x[0] + v * simplex.body_x[1]
        y = u * simplex.terrain_y[0] + v * simplex.terrain_y[1]
        y -= u * simplex.body_y[0] + v * simplex.body_y[1]
    return F32(math.sqrt(x * x + y * y))


@compiled()
def _reduce(simplex: Simplex) -> None:
    """Keep the corners between which the point nearest to the origin lies."""
    if simplex.size == 2:
        _reduce_edge(simplex)
    elif simplex.size == 3:
        _reduce_triangle(simplex)


@compiled()
def _reduce_edge(simplex: Simplex) -> None:
    """Weigh the two ends of an edge, or keep one: b2Simplex::Solve2."""
    to_first, to_second = _along(simplex, 0, 1)
    if to_second <= ZERO:
        _keep_corner(simplex, 0)
    elif to_first <= ZERO:
        _keep_corner(simplex, 1)
    else:
        _keep_edge(simplex, 0, 1, to_first, to_second)


@compiled()
def _reduce_triangle(simplex: Simplex) -> None:
    """Find the corner, edge or inside nearest to the origin: b2Simplex::Solve3, in its order of tests."""
    d12_1, d12_2 = _along(simplex, 0, 1)
    d13_1, d13_2 = _along(simplex, 0, 2)
    d23_1, d23_2 = _along(simplex, 1, 2)
    x, y = simplex.way_x[0], simplex.way_y[0]
    e12_x, e12_y = simplex.way_x[1] - x, simplex.way_y[1] - y
    e13_x, e13_y = simplex.way_x[2] - x, simplex.way_y[2] - y
    turn = e12_x * e13_y - e12_y * e13_x
    d123_1 = turn * _cross(simplex, 1, 2)
    d123_2 = turn * _cross(simplex, 2, 0)
    d123_3 = turn * _cross(simplex, 0, 1)
    if d12_2 <= ZERO and d13_2 <= ZERO:
        _keep_corner(simplex, 0)
    elif d12_1 > ZERO and d12_2 > ZERO and d123_3 <= ZERO:
        _keep_edge(simplex, 0, 1, d12_1, d12_2)
    elif d13_1 > ZERO and d13_2 > ZERO and d123_2 <= ZERO:
        _keep_edge(simplex, 0, 2, d13_1, d13_2)
    elif d12_1 <= ZERO and d23_2 <= ZERO:
        _keep_corner(simplex, 1)
    elif d13_1 <= ZERO and d23_1 <= ZERO:
        _keep_corner(simplex, 2)
    elif d23_1 > ZERO and d23_2 > ZERO and d123_1 <= ZERO:
        _keep_edge(simplex, 2, 1, d23_2, d23_1)  # the third corner comes first, as in Box2D


@compiled()
def _along(simplex: Simplex, i: int, j: int) -> Pair:
    """Return the (unscaled) weights of an edge's ends in its point nearest to the origin."""
    i_x, i_y, j_x, j_y = simplex.way_x[i], simplex.way_y[i], simplex.way_x[j], simplex.way_y[j]
    e_x, e_y = j_x - i_x, j_y - i_y
    return j_x * e_x + j_y * e_y, -(i_x * e_x + i_y * e_y)


@compiled()
def _cross(simplex: Simplex, i: int, j: int) -> np.float32:
    """Return the cross product of two rows' vectors."""
    return F32(simplex.way_x[i] * simplex.way_y[j] - simplex.way_y[i] * simplex.way_x[j])


@compiled()
def _copy_row(simplex: Simplex, source: int, target: int) -> None:
    """Copy a row without its weight."""
    simplex.piece_corner[target] = simplex.piece_corner[source]
    simplex.body_corner[target] = simplex.body_corner[source]
    simplex.terrain_x[target], simplex.terrain_y[target] = (
        simplex.terrain_x[source],
        simplex.terrain_y[source],
    )
    simplex.body_x[target], simplex.body_y[target] = simplex.body_x[source], simplex.body_y[source]
    simplex.way_x[target], simplex.way_y[target] = simplex.way_x[source], simplex.way_y[source]


@compiled()
def _keep_corner(simplex: Simplex, i: int) -> None:
    """Make row i the whole simplex."""
    _copy_row(simplex, i, 0)
    simplex.weight[0] = ONE
    simplex.size = 1


@compiled()
def _keep_edge(simplex: Simplex, i: int, j: int, d_i: np.float32, d_j: np.float32) -> None:
    """Make rows i and j the whole simplex, with their weights."""
    inverse = ONE / (d_i + d_j)
    _copy_row(simplex, i, 0)
    _copy_row(simplex, j, 1)
    simplex.weight[0], simplex.weight[1] = d_i * inverse, d_j * inverse
    simplex.size = 2
