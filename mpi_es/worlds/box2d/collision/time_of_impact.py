"""When a body in motion first touches a piece of terrain: b2TimeOfImpact, by conservative advancement.

Times are fractions of the sweep, from 0 to 1. Touching is a distance of TARGET within TOLERANCE.
"""

from typing import NamedTuple

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.collision.distance import Transform, distance, point_at, support
from mpi_es.worlds.box2d.records import Body, Piece, Simplex
from mpi_es.worlds.box2d.settings import BOTH_RADII, F32, HALF, LINEAR_SLOP, ONE, PI, TWO, ZERO
from mpi_es.worlds.box2d.sines import sine_cosine
from mpi_es.worlds.box2d.vectors import Pair, normalized, rotate, rotate_back

TARGET = max(LINEAR_SLOP, BOTH_RADII - F32(3) * LINEAR_SLOP)
TOLERANCE = F32(0.25) * LINEAR_SLOP
_MOST_ITERATIONS = 20
_MOST_PUSH_BACKS = 16  # pybox2d's b2_maxPolygonVertices
_MOST_ROOTS = 50
_TURN = TWO * PI

_POINTS, _PIECE_FACE, _BODY_FACE = range(3)  # what an axis goes through
_GO_ON, _TOUCHING, _NEVER = range(3)  # what an advance finds


class _Axis(NamedTuple):
    """b2SeparationFunction: a direction along which the separation is measured, and a point of its face."""

    kind: int
    x: np.float32
    y: np.float32
    point_x: np.float32
    point_y: np.float32


class _Sweep(NamedTuple):
    """A body's motion, with normalised angles."""

    x0: np.float32
    y0: np.float32
    angle0: np.float32
    x: np.float32
    y: np.float32
    angle: np.float32
    local_x: np.float32
    local_y: np.float32


@compiled()
def time_of_impact(simplex: Simplex, piece: Piece, body: Body) -> tuple[bool, np.float32]:
    """Return whether the body will touch the piece, and when."""
    whole = _TURN * F32(np.floor(body.angle0 / _TURN))
    sweep = _Sweep(
        body.x0,
        body.y0,
        body.angle0 - whole,
        body.x,
        body.y,
        body.angle - whole,
        body.local_x,
        body.local_y,
    )
    time = ZERO
    simplex.size = 0
    for _ in range(_MOST_ITERATIONS):
        at = _transform(sweep, time)
        way = distance(simplex, piece, body, at)
        if way <= ZERO:
            return False, ZERO
        if way < TARGET + TOLERANCE:
            return True, time
        axis = _find_axis(simplex, piece, body, at)
        found, time = _advance(axis, piece, body, sweep, time)
        if found != _GO_ON:
            return found == _TOUCHING, time
    return False, time


@compiled()
def _transform(sweep: _Sweep, time: np.float32) -> Transform:
    """Return the body's frame at a time: b2Sweep::GetTransform."""
    x = (ONE - time) * sweep.x0 + time * sweep.x
    y = (ONE - time) * sweep.y0 + time * sweep.y
    sine, cosine = sine_cosine((ONE - time) * sweep.angle0 + time * sweep.angle)
    turned_x, turned_y = rotate(sine, cosine, sweep.local_x, sweep.local_y)
    return sine, cosine, x - turned_x, y - turned_y


@compiled()
def _find_axis(simplex: Simplex, piece: Piece, body: Body, at: Transform) -> _Axis:
    """Return the axis through the nearest points or perpendicular to the nearest face: Initialize."""
    sine, cosine, _, _ = at
    a, b = simplex.piece_corner, simplex.body_corner
    terrain_x, terrain_y = piece.corners[a[0], 0], piece.corners[a[0], 1]
    body_x, body_y = point_at(body, b[0], at)
    if simplex.size == 1:
        x, y = normalized(body_x - terrain_x, body_y - terrain_y)
        return _Axis(_POINTS, x, y, ZERO, ZERO)
    if a[0] == a[1]:
        x, y, point_x, point_y = _face(
            body.corners[b[0], 0], body.corners[b[0], 1], body.corners[b[1], 0], body.corners[b[1], 1]
        )
        n_x, n_y = rotate(sine, cosine, x, y)
        face_x, face_y = rotate(sine, cosine, point_x, point_y)
        face_x, face_y = face_x + at[2], face_y + at[3]
        if (terrain_x - face_x) * n_x + (terrain_y - face_y) * n_y < ZERO:
            x, y = -x, -y
        return _Axis(_BODY_FACE, x, y, point_x, point_y)
    x, y, point_x, point_y = _face(terrain_x, terrain_y, piece.corners[a[1], 0], piece.corners[a[1], 1])
    if (body_x - point_x) * x + (body_y - point_y) * y < ZERO:
        x, y = -x, -y
    return _Axis(_PIECE_FACE, x, y, point_x, point_y)


@compiled()
def _face(
    x1: np.float32, y1: np.float32, x2: np.float32, y2: np.float32
) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """Return the normal and the middle of a face."""
    n_x, n_y = normalized(y2 - y1, -(x2 - x1))
    return n_x, n_y, HALF * (x1 + x2), HALF * (y1 + y2)


@compiled()
def _deepest_corners(axis: _Axis, piece: Piece, body: Body, at: Transform) -> tuple[int, int]:
    """Return the corners of piece and body that are deepest along an axis: FindMinSeparation."""
    sine, cosine, _, _ = at
    if axis.kind == _BODY_FACE:
        n_x, n_y = rotate(sine, cosine, axis.x, axis.y)
        return support(piece.corners, piece.size, -n_x, -n_y), 0
    local_x, local_y = rotate_back(sine, cosine, -axis.x, -axis.y)
    b = support(body.corners, body.size, local_x, local_y)
    if axis.kind == _PIECE_FACE:
        return 0, b
    return support(piece.corners, piece.size, axis.x, axis.y), b


@compiled()
def _separation(axis: _Axis, piece: Piece, body: Body, corners: tuple[int, int], at: Transform) -> np.float32:
    """Return how far apart two corners, or a corner and a face, are along an axis: Evaluate."""
    sine, cosine, x, y = at
    a, b = corners
    terrain_x, terrain_y = piece.corners[a, 0], piece.corners[a, 1]
    if axis.kind == _BODY_FACE:
        n_x, n_y = rotate(sine, cosine, axis.x, axis.y)
        face_x, face_y = rotate(sine, cosine, axis.point_x, axis.point_y)
        face_x, face_y = face_x + x, face_y + y
        return F32((terrain_x - face_x) * n_x + (terrain_y - face_y) * n_y)
    if axis.kind == _PIECE_FACE:
        terrain_x, terrain_y = axis.point_x, axis.point_y
    body_x, body_y = point_at(body, b, at)
    return F32((body_x - terrain_x) * axis.x + (body_y - terrain_y) * axis.y)


@compiled()
def _advance(
    axis: _Axis, piece: Piece, body: Body, sweep: _Sweep, time: np.float32
) -> tuple[int, np.float32]:
    """Return what happens along an axis after a time, and the time up to which this is known."""
    end = ONE
    for _ in range(_MOST_PUSH_BACKS):
        at = _transform(sweep, end)
        corners = _deepest_corners(axis, piece, body, at)
        at_end = _separation(axis, piece, body, corners, at)
        if at_end > TARGET + TOLERANCE:
            return _NEVER, ONE
        if at_end > TARGET - TOLERANCE:
            return _GO_ON, end
        at_time = _separation(axis, piece, body, corners, _transform(sweep, time))
        if at_time < TARGET - TOLERANCE:
            return _NEVER, time
        if at_time <= TARGET + TOLERANCE:
            return _TOUCHING, time
        end = _root(axis, piece, body, sweep, corners, (time, end), (at_time, at_end))
    return _GO_ON, time


@compiled()
def _root(
    axis: _Axis, piece: Piece, body: Body, sweep: _Sweep, corners: tuple[int, int], times: Pair, values: Pair
) -> np.float32:
    """Return the time at which two corners are at the target, by bisection and the secant rule in turn."""
    before, after = times
    s_before, s_after = values
    for i in range(_MOST_ROOTS):
        if i & 1:
            time = before + (TARGET - s_before) * (after - before) / (s_after - s_before)
        else:
            time = HALF * (before + after)
        value = _separation(axis, piece, body, corners, _transform(sweep, time))
        if abs(value - TARGET) < TOLERANCE:
            return time
        if value > TARGET:
            before, s_before = time, value
        else:
            after, s_after = time, value
    return times[1]
