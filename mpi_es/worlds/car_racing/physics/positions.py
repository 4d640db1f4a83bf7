"""The iterations that correct the car's positions: b2RevoluteJoint::SolvePositionConstraints, in float32."""

import math

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.settings import (
    ANGULAR_SLOP,
    F32,
    LINEAR_SLOP,
    MAX_ANGULAR_CORRECTION,
    ONE,
    POSITION_ITERATIONS,
    ZERO,
)
from mpi_es.worlds.car_racing.physics.joints import (
    ARMS,
    HULL_I,
    HULL_M,
    ISLAND,
    LIMIT_ANGLE,
    MOTOR_MASS,
    NO_LIMIT,
    WHEEL_I,
    WHEEL_M,
    Joints,
    Row,
)


@compiled()
def solve_positions(angles: Row, centres: Row, joints: Joints) -> bool:
    """Move the bodies until the joints hold; return whether they do."""
    for _ in range(POSITION_ITERATIONS):
        hold, changed = True, False
        for wheel in ISLAND:
            angular_error, turned = _turn_back(angles, joints[wheel].limit, wheel)
            error, moved = _move_together(angles, centres, wheel)
            hold &= bool(error <= LINEAR_SLOP and angular_error <= ANGULAR_SLOP)
            changed |= turned | moved
        if hold:
            return True
        if not changed:
            return False
    return False


@compiled()
def _turn_back(angles: Row, limit: np.float32, wheel: int) -> tuple[np.float32, bool]:
    """Turn a wheel back to its limit; return how far beyond it was, and whether it was turned."""
    if limit == NO_LIMIT:
        return ZERO, False
    error = limit * (angles[wheel + 1] - angles[0]) - LIMIT_ANGLE
    correction = error - ANGULAR_SLOP
    correction = correction if correction < MAX_ANGULAR_CORRECTION else MAX_ANGULAR_CORRECTION
    correction = correction if correction > ZERO else ZERO
    impulse = -MOTOR_MASS * (limit * correction)
    angles[0] -= HULL_I * impulse
    angles[wheel + 1] += WHEEL_I * impulse
    return error, impulse != ZERO


@compiled()
def _move_together(angles: Row, centres: Row, wheel: int) -> tuple[np.float32, bool]:
    """Move hull and wheel towards their joint; return how far apart they were, and whether they moved."""
    sine, cosine = math.sin(angles[0]), math.cos(angles[0])
    arm_x = cosine * ARMS[wheel, 0] - sine * ARMS[wheel, 1]
    arm_y = sine * ARMS[wheel, 0] + cosine * ARMS[wheel, 1]
    hull, own = centres[0], centres[wheel + 1]
    way_x, way_y = own[0] - hull[0] - arm_x, own[1] - hull[1] - arm_y
    k_xx = HULL_M + WHEEL_M + HULL_I * arm_y * arm_y
    k_xy = -HULL_I * arm_x * arm_y
    k_yy = HULL_M + WHEEL_M + HULL_I * arm_x * arm_x
    inverse = ONE / (k_xx * k_yy - k_xy * k_xy)
    p_x = -(inverse * (k_yy * way_x - k_xy * way_y))
    p_y = -(inverse * (k_xx * way_y - k_xy * way_x))
    hull_x, hull_y = hull[0] - HULL_M * p_x, hull[1] - HULL_M * p_y
    own_x, own_y = own[0] + WHEEL_M * p_x, own[1] + WHEEL_M * p_y
    angle = angles[0] - HULL_I * (arm_x * p_y - arm_y * p_x)
    moved = (hull_x != hull[0]) | (hull_y != hull[1]) | (own_x != own[0]) | (own_y != own[1])
    moved |= angle != angles[0]
    hull[0], hull[1], own[0], own[1], angles[0] = hull_x, hull_y, own_x, own_y, angle
    return F32(math.sqrt(way_x * way_x + way_y * way_y)), bool(moved)
