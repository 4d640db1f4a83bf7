"""The joints of the car's wheels, with a motor and a limit each: Box2D's b2RevoluteJoint, in float32.

A wheel's joint is at its centre of mass, so all of Box2D's terms with the wheel's arm are zero and omitted.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.settings import F32, ONE, WARMTH, ZERO
from mpi_es.worlds.car_racing.physics.bodies import (
    HULL_CENTRE_X,
    HULL_CENTRE_Y,
    HULL_INVERSE_MASS,
    HULL_INVERSE_MOMENT,
    SIZE,
    WHEEL_INVERSE_MASS,
    WHEEL_INVERSE_MOMENT,
    WHEEL_POSITIONS,
)

Row = NDArray[np.float32]

Joint = Any  # a record of JOINT
Joints = NDArray[Any]  # (WHEELS,) of JOINT
_LASTING = "impulse_x impulse_y limit_impulse motor_impulse motor_speed limit"  # from step to step
# What a step begins with: the joint as seen from the hull's centre, and Box2D's m_mass: the symmetric
# matrix K and the inverse determinants of its upper 2 x 2 and of the whole
_PREPARED = "arm_x arm_y k_xx k_xy k_yy k_xz k_yz inverse_2 inverse_3"
_ITERATED = "push_x push_y new_impulse new_spin"  # what an iteration leaves to the next
JOINT = np.dtype([(name, F32) for name in f"{_LASTING} {_PREPARED} {_ITERATED}".split()])
ISLAND = (3, 2, 1, 0)  # the order of joints: Box2D solves the newest first
NO_LIMIT, LOWER, UPPER = F32(0), F32(-1), F32(1)  # values of joint.limit

LIMIT_ANGLE = F32(0.4)
# Where the joints sit, from the hull's centre of mass
_ANCHORS = np.array(WHEEL_POSITIONS) * SIZE
ARMS = _ANCHORS.astype(F32) - np.array([HULL_CENTRE_X, HULL_CENTRE_Y])

HULL_M, HULL_I, WHEEL_M, WHEEL_I = (
    HULL_INVERSE_MASS,
    HULL_INVERSE_MOMENT,
    WHEEL_INVERSE_MASS,
    WHEEL_INVERSE_MOMENT,
)
K_ZZ = HULL_I + WHEEL_I
MOTOR_MASS = ONE / K_ZZ


@compiled()
def prepare(velocities: Row, angles: Row, joint: Joint, wheel: int) -> None:
    """Find a joint's matrix and limit, and apply the last step's impulses: InitVelocityConstraints."""
    sine, cosine = math.sin(angles[0]), math.cos(angles[0])
    arm_x = cosine * ARMS[wheel, 0] - sine * ARMS[wheel, 1]
    arm_y = sine * ARMS[wheel, 0] + cosine * ARMS[wheel, 1]
    joint.arm_x, joint.arm_y = arm_x, arm_y
    k_xx = HULL_M + WHEEL_M + arm_y * arm_y * HULL_I
    k_xy = -arm_y * arm_x * HULL_I
    k_yy = HULL_M + WHEEL_M + arm_x * arm_x * HULL_I
    k_xz, k_yz = -arm_y * HULL_I, arm_x * HULL_I
    joint.k_xx, joint.k_xy, joint.k_yy, joint.k_xz, joint.k_yz = k_xx, k_xy, k_yy, k_xz, k_yz
    joint.inverse_2 = ONE / (k_xx * k_yy - k_xy * k_xy)
    joint.inverse_3 = ONE / (
        k_xx * (k_yy * K_ZZ - k_yz * k_yz)
        + k_xy * (k_yz * k_xz - k_xy * K_ZZ)
        + k_xz * (k_xy * k_yz - k_yy * k_xz)
    )
    _find_limit(joint, angles[wheel + 1] - angles[0])
    joint.impulse_x *= WARMTH
    joint.impulse_y *= WARMTH
    joint.limit_impulse *= WARMTH
    joint.motor_impulse *= WARMTH
    p_x, p_y, spin = joint.impulse_x, joint.impulse_y, joint.motor_impulse
    hull, own = velocities[0], velocities[wheel + 1]
    hull[0] -= HULL_M * p_x
    hull[1] -= HULL_M * p_y
    hull[2] -= HULL_I * (arm_x * p_y - arm_y * p_x + spin + joint.limit_impulse)
    own[0] += WHEEL_M * p_x
    own[1] += WHEEL_M * p_y
    own[2] += WHEEL_I * (spin + joint.limit_impulse)


@compiled()
def _find_limit(joint: Joint, angle: np.float32) -> None:
    """Set whether the wheel is at one of its limits; a new limit starts without impulse."""
    limit = NO_LIMIT
    if angle <= -LIMIT_ANGLE:
        limit = LOWER
    elif angle >= LIMIT_ANGLE:
        limit = UPPER
    if limit != joint.limit or limit == NO_LIMIT:
        joint.limit_impulse = ZERO
    joint.limit = limit
