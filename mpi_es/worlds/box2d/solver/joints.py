"""Joints with a motor and limits: b2RevoluteJoint, in float32 and in its order of terms."""

import math

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.records import Body, Joint, Scene
from mpi_es.worlds.box2d.settings import (
    ANGULAR_SLOP,
    F32,
    LINEAR_SLOP,
    MAX_ANGULAR_CORRECTION,
    ONE,
    STEP,
    ZERO,
)
from mpi_es.worlds.box2d.sines import sine_cosine
from mpi_es.worlds.box2d.vectors import clamp, rotate

INSIDE, LOWER, UPPER = 0, 1, 2  # values of joint.limit


@compiled()
def prepare_joint(joint: Joint, a: Body, b: Body, warmth: np.float32) -> None:
    """Find a joint's matrix and limit, and apply the last step's impulses: InitVelocityConstraints."""
    a_x, a_y = rotate(a.sine, a.cosine, joint.anchor_ax, joint.anchor_ay)
    b_x, b_y = rotate(b.sine, b.cosine, joint.anchor_bx, joint.anchor_by)
    joint.arm_ax, joint.arm_ay, joint.arm_bx, joint.arm_by = a_x, a_y, b_x, b_y
    a_m, b_m, a_i, b_i = a.inverse_mass, b.inverse_mass, a.inverse_moment, b.inverse_moment
    k_xx = a_m + b_m + a_y * a_y * a_i + b_y * b_y * b_i
    k_xy = -a_y * a_x * a_i - b_y * b_x * b_i
    k_xz = -a_y * a_i - b_y * b_i
    k_yy = a_m + b_m + a_x * a_x * a_i + b_x * b_x * b_i
    k_yz = a_x * a_i + b_x * b_i
    k_zz = a_i + b_i
    joint.k_xx, joint.k_xy, joint.k_xz, joint.k_yy, joint.k_yz, joint.k_zz = (
        k_xx,
        k_xy,
        k_xz,
        k_yy,
        k_yz,
        k_zz,
    )
    joint.motor_mass = ONE / k_zz
    joint.inverse_2 = ONE / (k_xx * k_yy - k_xy * k_xy)
    joint.inverse_3 = ONE / (
        k_xx * (k_yy * k_zz - k_yz * k_yz)
        + k_xy * (k_yz * k_xz - k_xy * k_zz)
        + k_xz * (k_xy * k_yz - k_yy * k_xz)
    )
    _find_limit(joint, b.angle - a.angle - joint.reference)
    joint.impulse_x *= warmth
    joint.impulse_y *= warmth
    joint.limit_impulse *= warmth
    joint.motor_impulse *= warmth
    x, y, turn, limit = joint.impulse_x, joint.impulse_y, joint.motor_impulse, joint.limit_impulse
    a.velocity_x -= a_m * x
    a.velocity_y -= a_m * y
    a.spin -= a_i * (a_x * y - a_y * x + turn + limit)
    b.velocity_x += b_m * x
    b.velocity_y += b_m * y
    b.spin += b_i * (b_x * y - b_y * x + turn + limit)


@compiled()
def _find_limit(joint: Joint, angle: np.float32) -> None:
    """Set whether a joint is at one of its limits; a new limit starts without impulse."""
    limit = INSIDE
    if angle <= joint.lower:
        limit = LOWER
    elif angle >= joint.upper:
        limit = UPPER
    if limit != joint.limit or limit == INSIDE:
        joint.limit_impulse = ZERO
    joint.limit = limit


@compiled()
def iterate_joint(joint: Joint, a: Body, b: Body) -> None:
    """Let a joint turn its bodies, then hold them together: SolveVelocityConstraints."""
    most = STEP * joint.motor_torque
    change = -joint.motor_mass * (b.spin - a.spin - joint.motor_speed)
    impulse = clamp(joint.motor_impulse + change, -most, most)
    change = impulse - joint.motor_impulse
    joint.motor_impulse = impulse
    a.spin -= a.inverse_moment * change
    b.spin += b.inverse_moment * change
    way_x = b.velocity_x - b.spin * joint.arm_by - a.velocity_x + a.spin * joint.arm_ay
    way_y = b.velocity_y + b.spin * joint.arm_bx - a.velocity_y - a.spin * joint.arm_ax
    if joint.limit == INSIDE:
        _pin(joint, a, b, way_x, way_y)
    else:
        _pin_at_limit(joint, a, b, way_x, way_y)


@compiled()
def _pin(joint: Joint, a: Body, b: Body, way_x: np.float32, way_y: np.float32) -> None:
    """Hold the bodies together at the anchor."""
    x = joint.inverse_2 * (joint.k_yy * -way_x - joint.k_xy * -way_y)
    y = joint.inverse_2 * (joint.k_xx * -way_y - joint.k_xy * -way_x)
    joint.impulse_x += x
    joint.impulse_y += y
    a.spin -= a.inverse_moment * (joint.arm_ax * y - joint.arm_ay * x)
    b.spin += b.inverse_moment * (joint.arm_bx * y - joint.arm_by * x)
    _push(a, b, x, y)


@compiled()
def _push(a: Body, b: Body, x: np.float32, y: np.float32) -> None:
    """Push both bodies, without turning them."""
    a.velocity_x -= a.inverse_mass * x
    a.velocity_y -= a.inverse_mass * y
    b.velocity_x += b.inverse_mass * x
    b.velocity_y += b.inverse_mass * y


@compiled()
def _pin_at_limit(joint: Joint, a: Body, b: Body, way_x: np.float32, way_y: np.float32) -> None:
    """Hold the bodies together, and stop them from turning further."""
    k_xx, k_xy, k_xz, k_yy, k_yz, k_zz = (
        joint.k_xx,
        joint.k_xy,
        joint.k_xz,
        joint.k_yy,
        joint.k_yz,
        joint.k_zz,
    )
    inverse, last, way_z = joint.inverse_3, joint.limit_impulse, b.spin - a.spin
    # b2Mat33::Solve33, by Cramer's rule
    x = -(
        inverse
        * (
            way_x * (k_yy * k_zz - k_yz * k_yz)
            + way_y * (k_yz * k_xz - k_xy * k_zz)
            + way_z * (k_xy * k_yz - k_yy * k_xz)
        )
    )
    y = -(
        inverse
        * (
            k_xx * (way_y * k_zz - way_z * k_yz)
            + k_xy * (way_z * k_xz - way_x * k_zz)
            + k_xz * (way_x * k_yz - way_y * k_xz)
        )
    )
    z = -(
        inverse
        * (
            k_xx * (k_yy * way_z - k_yz * way_y)
            + k_xy * (k_yz * way_x - k_xy * way_z)
            + k_xz * (k_xy * way_y - k_yy * way_x)
        )
    )
    impulse = last + z
    if (impulse < ZERO) if joint.limit == LOWER else (impulse > ZERO):  # it would pull: let go, and only pin
        rest_x, rest_y = -way_x + last * k_xz, -way_y + last * k_yz
        x = joint.inverse_2 * (k_yy * rest_x - k_xy * rest_y)
        y = joint.inverse_2 * (k_xx * rest_y - k_xy * rest_x)
        z = -last
        impulse = ZERO
    joint.limit_impulse = impulse
    joint.impulse_x += x
    joint.impulse_y += y
    a.spin -= a.inverse_moment * (joint.arm_ax * y - joint.arm_ay * x + z)
    b.spin += b.inverse_moment * (joint.arm_bx * y - joint.arm_by * x + z)
    _push(a, b, x, y)


@compiled()
def correct_joints(scene: Scene) -> bool:
    """Move the bodies of each joint together once; return whether all errors are small."""
    small = True
    for i in range(len(scene.joints)):
        joint = scene.joints[scene.joint_order[i]]
        small &= _correct(joint, scene.bodies[joint.a], scene.bodies[joint.b])
    return small


@compiled()
def _correct(joint: Joint, a: Body, b: Body) -> bool:
    """Correct the angle, then the anchor: SolvePositionConstraints. Return whether the errors were small."""
    angle_error = ZERO
    if joint.limit != INSIDE:
        angle_error, correction = _limit_error(joint, b.angle - a.angle - joint.reference)
        impulse = -joint.motor_mass * correction
        a.angle -= a.inverse_moment * impulse
        b.angle += b.inverse_moment * impulse
    sine, cosine = sine_cosine(a.angle)
    a_x, a_y = rotate(sine, cosine, joint.anchor_ax, joint.anchor_ay)
    sine, cosine = sine_cosine(b.angle)
    b_x, b_y = rotate(sine, cosine, joint.anchor_bx, joint.anchor_by)
    way_x, way_y = b.x + b_x - a.x - a_x, b.y + b_y - a.y - a_y
    error = F32(math.sqrt(way_x * way_x + way_y * way_y))
    a_m, b_m, a_i, b_i = a.inverse_mass, b.inverse_mass, a.inverse_moment, b.inverse_moment
    k_xx = a_m + b_m + a_i * a_y * a_y + b_i * b_y * b_y  # associated otherwise than for velocities
    k_xy = -a_i * a_x * a_y - b_i * b_x * b_y
    k_yy = a_m + b_m + a_i * a_x * a_x + b_i * b_x * b_x
    inverse = ONE / (k_xx * k_yy - k_xy * k_xy)
    x, y = -(inverse * (k_yy * way_x - k_xy * way_y)), -(inverse * (k_xx * way_y - k_xy * way_x))
    a.x -= a_m * x
    a.y -= a_m * y
    a.angle -= a_i * (a_x * y - a_y * x)
    b.x += b_m * x
    b.y += b_m * y
    b.angle += b_i * (b_x * y - b_y * x)
    return bool(error <= LINEAR_SLOP and angle_error <= ANGULAR_SLOP)


@compiled()
def _limit_error(joint: Joint, angle: np.float32) -> tuple[np.float32, np.float32]:
    """Return how far a joint is beyond its limit, and the angle to correct."""
    if joint.limit == LOWER:
        beyond = angle - joint.lower
        return -beyond, clamp(beyond + ANGULAR_SLOP, -MAX_ANGULAR_CORRECTION, ZERO)
    beyond = angle - joint.upper
    return beyond, clamp(beyond - ANGULAR_SLOP, ZERO, MAX_ANGULAR_CORRECTION)
