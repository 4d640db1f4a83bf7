"""The terrain of BipedalWalker-v3, as gymnasium's _generate_terrain makes it. The literals are gymnasium's.

The record's fields mode, is_new, counter, velocity, height, before, steps and way are that function's state,
oneshot, counter, velocity, y, original_y, stair_steps and stair_height.
"""

from typing import Any

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.settings import F32
from mpi_es.worlds.box2d.terrain import put_edge, put_polygon
from mpi_es.worlds.numpy_random import integers, uniform

SCALE = 30.0
STEP = 14 / SCALE  # metres between two points
POINTS = 200
EDGES = POINTS - 1
HEIGHT = 400 / SCALE / 4
START = 20  # points of even ground
FRICTION = 2.5
# With the grass before it, an obstacle takes five points per polygon; the last obstacle may be cut.
MOST_POLYGONS = (POINTS - START) // 5 + 4

_GRASS, _STUMP, _STAIRS, _PIT = range(4)
_STAIR_WIDTH = 4  # points; gymnasium "draws" it from a single value


@compiled()
def make_terrain(state: Any) -> None:
    """Draw the ground and put it into the scene: polygons first, then the edges from left to right."""
    state.mode, state.is_new, state.counter = _GRASS, False, START
    state.velocity, state.height, state.polygons = 0.0, HEIGHT, 0
    for i in range(POINTS):
        _continue(state, i)
        state.heights[i] = state.height
        state.is_new = False
        state.counter -= 1
        if state.counter == 0:
            state.counter = 5 + integers(state.generator, 5)
            obstacle = state.mode == _GRASS and state.hardcore
            state.mode = 1 + integers(state.generator, 3) if obstacle else _GRASS
            state.is_new = True
    for i in range(EDGES):
        place = state.polygons + i
        y1, y2 = state.heights[i], state.heights[i + 1]
        put_edge(state.scene, place, i * STEP, y1, (i + 1) * STEP, y2, place, FRICTION)
    state.scene.piece_count = state.polygons + EDGES


@compiled()
def _continue(state: Any, i: int) -> None:
    """Set the height of point i, and begin an obstacle there if it is due."""
    mode, x, y = state.mode, i * STEP, state.height
    if mode == _GRASS and not state.is_new:
        state.velocity = 0.8 * state.velocity + 0.01 * np.sign(HEIGHT - y)
        if i > START:
            state.velocity += uniform(state.generator, -1.0, 1.0) / SCALE
        state.height += state.velocity
    elif mode == _STUMP and state.is_new:
        state.counter = 1 + integers(state.generator, 2)
        _put_box(state, x, x + state.counter * STEP, y, y + state.counter * STEP)
    elif mode == _STAIRS:
        _climb(state, x, y)
    elif mode == _PIT:
        _dig(state, x, y)


@compiled()
def _climb(state: Any, x: float, y: float) -> None:
    """Begin stairs, up or down, or continue them."""
    if not state.is_new:
        done = state.steps * _STAIR_WIDTH - state.counter - state.way
        state.height = state.before + (done / _STAIR_WIDTH * state.way) * STEP
        return
    state.way = 1 if uniform(state.generator, 0.0, 1.0) > 0.5 else -1
    state.steps = 3 + integers(state.generator, 2)
    state.before = y
    for s in range(state.steps):
        left, right = x + (s * _STAIR_WIDTH) * STEP, x + ((1 + s) * _STAIR_WIDTH) * STEP
        _put_box(state, left, right, y + (s * state.way) * STEP, y + (-1 + s * state.way) * STEP)
    state.counter = state.steps * _STAIR_WIDTH


@compiled()
def _dig(state: Any, x: float, y: float) -> None:
    """Begin a pit between two walls, or continue it."""
    if not state.is_new:
        state.height = state.before - 4 * STEP if state.counter > 1 else state.before
        return
    state.counter = 3 + integers(state.generator, 2)
    far = STEP * state.counter
    _put_box(state, x, x + STEP, y, y - 4 * STEP)
    _put_box(state, x + far, x + STEP + far, y, y - 4 * STEP)
    state.counter += 2
    state.before = y


@compiled()
def _put_box(state: Any, left: float, right: float, y1: float, y2: float) -> None:
    """Add an axis-aligned box to the scene."""
    corners = state.corners
    corners[0, 0], corners[0, 1], corners[1, 0], corners[1, 1] = F32(left), F32(y1), F32(right), F32(y1)
    corners[2, 0], corners[2, 1], corners[3, 0], corners[3, 1] = F32(right), F32(y2), F32(left), F32(y2)
    put_polygon(state.scene, state.polygons, corners, FRICTION)
    state.polygons += 1
