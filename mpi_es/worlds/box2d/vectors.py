"""Box2D's b2Math in float32: plain numbers, rotations, and points of a body in the world.

LLVM's minimum and maximum differ from Box2D's for zeros of both signs, so the comparisons are written out.
"""

import math

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.records import Body
from mpi_es.worlds.box2d.settings import EPSILON, F32, ONE

Pair = tuple[np.float32, np.float32]


@compiled()
def lesser(a: np.float32, b: np.float32) -> np.float32:
    """Return b2Min."""
    return a if a < b else b


@compiled()
def greater(a: np.float32, b: np.float32) -> np.float32:
    """Return b2Max."""
    return a if a > b else b


@compiled()
def clamp(a: np.float32, low: np.float32, high: np.float32) -> np.float32:
    """Return b2Clamp."""
    return greater(low, lesser(a, high))


@compiled()
def normalized(x: np.float32, y: np.float32) -> Pair:
    """Return a vector of length 1, or the vector itself if it has hardly any length."""
    length = F32(math.sqrt(x * x + y * y))
    if length < EPSILON:
        return x, y
    inverse = ONE / length
    return x * inverse, y * inverse


@compiled()
def rotate(sine: np.float32, cosine: np.float32, x: np.float32, y: np.float32) -> Pair:
    """Return a vector turned by an angle."""
    return cosine * x - sine * y, sine * x + cosine * y


@compiled()
def rotate_back(sine: np.float32, cosine: np.float32, x: np.float32, y: np.float32) -> Pair:
    """Return a vector turned by the opposite of an angle."""
    return cosine * x + sine * y, -sine * x + cosine * y


@compiled()
def to_world(body: Body, x: np.float32, y: np.float32) -> Pair:
    """Return the position in the world of a point of a body."""
    turned_x, turned_y = rotate(body.sine, body.cosine, x, y)
    return turned_x + body.origin_x, turned_y + body.origin_y


@compiled()
def to_body(body: Body, x: np.float32, y: np.float32) -> Pair:
    """Return the point of a body at a position in the world."""
    return rotate_back(body.sine, body.cosine, x - body.origin_x, y - body.origin_y)


@compiled()
def corner_of(body: Body, i: int) -> Pair:
    """Return the position in the world of a corner of a body."""
    return to_world(body, body.corners[i, 0], body.corners[i, 1])


@compiled()
def normal_of(body: Body, i: int) -> Pair:
    """Return the direction in the world of the normal of a body's face."""
    return rotate(body.sine, body.cosine, body.normals[i, 0], body.normals[i, 1])
