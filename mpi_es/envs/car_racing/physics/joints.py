"""The joints of the car's wheels, with a motor and a limit each: Box2D's b2RevoluteJoint, in float32.

A wheel's joint is at its centre of mass, so all terms of Box2D's with the wheel's arm are zero and left out.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing.physics.bodies import (
    HULL_CENTRE_X,
    HULL_CENTRE_Y,
    HULL_INVERSE_MASS,
    HULL_INVERSE_MOMENT,
    SIZE,
    WHEEL_INVERSE_MASS,
    WHEEL_INVERSE_MOMENT,
    WHEEL_POSITIONS,
)
from mpi_es.envs.car_racing.state import DT
from mpi_es.jit.decorator import compiled

F32 = np.float32
Row = NDArray[np.float32]

# Places in a row of Physics.joints: what lasts from step to step …
IMPULSE_X, IMPULSE_Y, LIMIT_IMPULSE, MOTOR_IMPULSE, MOTOR_SPEED, LIMIT = range(6)
# … and what a step begins with: the joint as seen from the hull's centre, and Box2D's m_mass: the symmetric
# matrix K and the inverse determinants of its upper 2 x 2 and of the whole
ARM_X, ARM_Y, K_XX, K_XY, K_YY, K_XZ, K_YZ, INVERSE_2, INVERSE_3 = range(6, 15)
# … and what an iteration leaves to the next
PUSH_X, PUSH_Y, NEW_IMPULSE, NEW_SPIN = range(15, 19)
ISLAND = (3, 2, 1, 0)  # the order of joints: Box2D finds the newest first
NO_LIMIT, LOWER, UPPER = F32(0), F32(-1), F32(1)  # values of LIMIT

STEP = F32(DT)
WARMTH = (F32(1) / STEP) * STEP  # Box2D's dtRatio, by which it scales the impulses of the last step
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
MOTOR_MASS = F32(1) / K_ZZ

# b2Settings.h
PI = F32(3.14159265359)
ANGULAR_SLOP = F32(2) / F32(180) * PI

ZERO, ONE = F32(0), F32(1)


@compiled()
def prepare(velocities: Row, angles: Row, joint: Row, wheel: int) -> None:
    """Find a joint's matrix and limit and apply last step's impulses: InitVelocityConstraints."""
    sine, cosine = math.sin(angles[0]), math.cos(angles[0])
    arm_x = cosine * ARMS[wheel, 0] - sine * ARMS[wheel, 1]
    arm_y = sine * ARMS[wheel, 0] + cosine * ARMS[wheel, 1]
    joint[ARM_X], joint[ARM_Y] = arm_x, arm_y
    k_xx = HULL_M + WHEEL_M + arm_y * arm_y * HULL_I
    k_xy = -arm_y * arm_x * HULL_I
    k_yy = HULL_M + WHEEL_M + arm_x * arm_x * HULL_I
    k_xz, k_yz = -arm_y * HULL_I, arm_x * HULL_I
    joint[K_XX], joint[K_XY], joint[K_YY], joint[K_XZ], joint[K_YZ] = k_xx, k_xy, k_yy, k_xz, k_yz
    joint[INVERSE_2] = ONE / (k_xx * k_yy - k_xy * k_xy)
    joint[INVERSE_3] = ONE / (
        k_xx * (k_yy * K_ZZ - k_yz * k_yz)
        + k_xy * (k_yz * k_xz - k_xy * K_ZZ)
        + k_xz * (k_xy * k_yz - k_yy * k_xz)
    )
    _find_limit(joint, angles[wheel + 1] - angles[0])
    for place in (IMPULSE_X, IMPULSE_Y, LIMIT_IMPULSE, MOTOR_IMPULSE):
        joint[place] *= WARMTH
    p_x, p_y, spin = joint[IMPULSE_X], joint[IMPULSE_Y], joint[MOTOR_IMPULSE]
    hull, own = velocities[0], velocities[wheel + 1]
    hull[0] -= HULL_M * p_x
    hull[1] -= HULL_M * p_y
    hull[2] -= HULL_I * (arm_x * p_y - arm_y * p_x + spin + joint[LIMIT_IMPULSE])
    own[0] += WHEEL_M * p_x
    own[1] += WHEEL_M * p_y
    own[2] += WHEEL_I * (spin + joint[LIMIT_IMPULSE])


@compiled()
def _find_limit(joint: Row, angle: np.float32) -> None:
    """Note whether the wheel is turned as far as it goes; a new limit starts without impulse."""
    limit = NO_LIMIT
    if angle <= -LIMIT_ANGLE:
        limit = LOWER
    elif angle >= LIMIT_ANGLE:
        limit = UPPER
    if limit != joint[LIMIT] or limit == NO_LIMIT:
        joint[LIMIT_IMPULSE] = ZERO
    joint[LIMIT] = limit
