"""Bodies and joints: made once in Python, then reset to their start in each episode."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d import shapes
from mpi_es.worlds.box2d.boxes import find_new_contacts
from mpi_es.worlds.box2d.records import BODY, JOINT, Body, Scene
from mpi_es.worlds.box2d.settings import BOX_MARGIN, F32, LARGEST, RADIUS, ZERO
from mpi_es.worlds.box2d.sines import sine_cosine
from mpi_es.worlds.box2d.solver.sleep import wake
from mpi_es.worlds.box2d.vectors import corner_of, greater, lesser, rotate

DEFAULT_FRICTION = 0.2  # b2FixtureDef's
Record = NDArray[np.void]  # (1,)


def polygon(points: Sequence[tuple[float, float]]) -> Record:
    """Return a body of that shape, which has no mass yet."""
    body = np.zeros(1, BODY)
    corners = body["corners"][0]
    size = shapes.wrap(np.array(points, F32), corners)
    shapes.find_normals(corners, size, body["normals"][0])
    body["size"], body["centroid_x"], body["centroid_y"] = size, *shapes.centroid(corners, size)
    return body


def box(half_width: float, half_height: float) -> Record:
    """Return a body with four corners in the order of b2PolygonShape::SetAsBox."""
    x, y = F32(half_width), F32(half_height)
    body = np.zeros(1, BODY)
    body["corners"][0, :4] = (-x, -y), (x, -y), (x, y), (-x, y)
    body["normals"][0, :4] = (0, -1), (1, 0), (0, 1), (-1, 0)
    body["size"] = 4
    return body


def placed(
    body: Record, density: float, friction: float, position: tuple[float, float], angle: float = 0.0
) -> Record:
    """Return a body with mass that begins an episode there."""
    corners = body["corners"][0, : body["size"][0]]
    body["inverse_mass"], body["inverse_moment"], centre = shapes.body_mass([corners], F32(density))
    body["local_x"], body["local_y"] = centre
    body["friction"] = F32(friction)
    body["reach"] = np.sqrt(((corners - centre) ** 2).sum(axis=1)).max()
    body["start_x"], body["start_y"] = position
    body["start_angle"] = angle
    return body


def joint(
    bodies: NDArray[np.void],
    a: int,
    b: int,
    anchors: tuple[tuple[float, float], tuple[float, float]],
    limits: tuple[float, float],
    motor: tuple[float, float],
) -> Record:
    """Return a revolute joint with a motor and limits.

    Args:
        anchors: in the frames of a and b.
        limits: radians, of the angle of b relative to a, counted from the angle at the start.
        motor: speed and greatest torque.
    """
    made = np.zeros(1, JOINT)
    made["a"], made["b"] = a, b
    for body, end, anchor in zip((bodies[a], bodies[b]), "ab", anchors, strict=True):
        for axis, place in zip("xy", anchor, strict=True):
            made[f"anchor_{end}{axis}"] = F32(place) - body[f"local_{axis}"]
    # pybox2d computes the angle in Python's float64.
    made["reference"] = float(bodies[b]["start_angle"]) - float(bodies[a]["start_angle"])
    made["lower"], made["upper"] = limits
    made["start_speed"], made["start_torque"] = motor
    return made


@compiled()
def begin(scene: Scene) -> None:
    """Put all bodies at their starts, and find their first contacts; the terrain must exist already."""
    for i in range(len(scene.bodies)):
        _begin_body(scene.bodies[i])
    for i in range(len(scene.joints)):
        joint = scene.joints[i]
        joint.motor_speed, joint.motor_torque = joint.start_speed, joint.start_torque
        joint.impulse_x = joint.impulse_y = joint.limit_impulse = joint.motor_impulse = ZERO
        joint.limit = 0
    scene.contact_count = 0
    scene.warmth = ZERO
    find_new_contacts(scene)


@compiled()
def _begin_body(body: Body) -> None:
    """Put a body at its start, at rest."""
    body.origin_x, body.origin_y, body.angle = body.start_x, body.start_y, body.start_angle
    body.sine, body.cosine = sine_cosine(body.angle)
    turned_x, turned_y = rotate(body.sine, body.cosine, body.local_x, body.local_y)
    body.x, body.y = turned_x + body.origin_x, turned_y + body.origin_y
    body.x0, body.y0, body.angle0, body.alpha0 = body.x, body.y, body.angle, ZERO
    body.velocity_x = body.velocity_y = body.spin = ZERO
    body.force_x = body.force_y = body.torque = body.rest = ZERO
    body.awake, body.moved, body.on_ground, body.touched = 1, 1, 0, 0
    body.lower_x, body.lower_y, body.upper_x, body.upper_y = LARGEST, LARGEST, -LARGEST, -LARGEST
    for i in range(body.size):
        x, y = corner_of(body, i)
        body.lower_x, body.lower_y = lesser(body.lower_x, x), lesser(body.lower_y, y)
        body.upper_x, body.upper_y = greater(body.upper_x, x), greater(body.upper_y, y)
    body.lower_x, body.lower_y = body.lower_x - RADIUS - BOX_MARGIN, body.lower_y - RADIUS - BOX_MARGIN
    body.upper_x, body.upper_y = body.upper_x + RADIUS + BOX_MARGIN, body.upper_y + RADIUS + BOX_MARGIN


@compiled()
def push(body: Body, impulse_x: float, impulse_y: float, x: float, y: float) -> None:
    """Apply an impulse at a point of the world: b2Body::ApplyLinearImpulse."""
    wake(body)
    p_x, p_y = F32(impulse_x), F32(impulse_y)
    body.velocity_x += body.inverse_mass * p_x
    body.velocity_y += body.inverse_mass * p_y
    body.spin += body.inverse_moment * ((F32(x) - body.x) * p_y - (F32(y) - body.y) * p_x)
