"""The iterations that find the car's velocities: b2RevoluteJoint::SolveVelocityConstraints, in float32."""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.settings import F32, STEP, VELOCITY_ITERATIONS
from mpi_es.worlds.car_racing.physics.arrays import WHEELS
from mpi_es.worlds.car_racing.physics.bodies import SIZE
from mpi_es.worlds.car_racing.physics.joints import (
    HULL_I,
    HULL_M,
    ISLAND,
    K_ZZ,
    MOTOR_MASS,
    NO_LIMIT,
    WHEEL_I,
    WHEEL_M,
    Joint,
    Joints,
    Row,
)

MAX_MOTOR_IMPULSE = STEP * F32(180 * 900 * SIZE * SIZE)


@compiled()
def solve_velocities(velocities: Row, joints: Joints) -> None:
    """Apply impulses in all of Box2D's iterations, except those that would change nothing.

    After some ten iterations nothing changes any more except the last bits of the wheels' spins and of the
    impulses, which may change until the end.
    """
    done = 0
    while done < VELOCITY_ITERATIONS:
        moved = _iterate(velocities, joints)
        done += 1
        if not moved:
            done = _iterate_at_rest(velocities, joints, done)


@compiled()
def _iterate(velocities: Row, joints: Joints) -> bool:
    """Let each joint push and turn hull and wheel; return whether more moves than a free wheel's spin."""
    x, y, spin, moved = velocities[0, 0], velocities[0, 1], velocities[0, 2], False
    for wheel in ISLAND:
        joint, own = joints[wheel], velocities[wheel + 1]
        spin, motor_moved = _turn(joint, own, spin)
        if joint.limit == NO_LIMIT:
            x, y, spin, pin_moved = _pin(joint, own, x, y, spin)
        else:
            x, y, spin, pin_moved = _pin_at_limit(joint, own, x, y, spin)
        moved |= motor_moved | pin_moved
    velocities[0, 0], velocities[0, 1], velocities[0, 2] = x, y, spin
    return moved


@compiled()
def _iterate_at_rest(velocities: Row, joints: Joints, done: int) -> int:
    """Iterate as long as only the wheels' spins change; return the number of iterations done by then.

    The pins then push as in the last iteration, and each wheel is alone with its motor.
    """
    hull_spin = velocities[0, 2]
    while done < VELOCITY_ITERATIONS:
        hull_moved = changed = False
        for wheel in range(WHEELS):
            joint, spin = joints[wheel], velocities[wheel + 1, 2]
            joint.new_impulse = _motor_impulse(joint, spin, hull_spin)
            more = joint.new_impulse - joint.motor_impulse
            joint.new_spin = spin + WHEEL_I * more
            hull_moved |= hull_spin - HULL_I * more != hull_spin
            changed |= (joint.new_impulse != joint.motor_impulse) | (joint.new_spin != spin)
        if hull_moved:
            return done
        for wheel in range(WHEELS):
            joint = joints[wheel]
            joint.motor_impulse, velocities[wheel + 1, 2] = joint.new_impulse, joint.new_spin
            sum_x, sum_y = joint.impulse_x + joint.push_x, joint.impulse_y + joint.push_y
            changed |= (sum_x != joint.impulse_x) | (sum_y != joint.impulse_y)
            joint.impulse_x, joint.impulse_y = sum_x, sum_y
        done += 1
        if not changed:
            return VELOCITY_ITERATIONS
    return done


@compiled()
def _motor_impulse(joint: Joint, own_spin: np.float32, hull_spin: np.float32) -> np.float32:
    """Return a motor's impulse after one more iteration."""
    impulse = joint.motor_impulse - MOTOR_MASS * (own_spin - hull_spin - joint.motor_speed)
    impulse = impulse if impulse < MAX_MOTOR_IMPULSE else MAX_MOTOR_IMPULSE
    return impulse if impulse > -MAX_MOTOR_IMPULSE else -MAX_MOTOR_IMPULSE


@compiled()
def _turn(joint: Joint, own: Row, hull_spin: np.float32) -> tuple[np.float32, bool]:
    """Let a motor turn its wheel; return the hull's spin, and whether that or a wheel at its limit moved."""
    before = joint.motor_impulse
    impulse = _motor_impulse(joint, own[2], hull_spin)
    more = impulse - before
    new_hull, new_own = hull_spin - HULL_I * more, own[2] + WHEEL_I * more
    changed = (impulse != before) | (new_own != own[2])
    moved = (new_hull != hull_spin) | (changed & (joint.limit != NO_LIMIT))
    joint.motor_impulse, own[2] = impulse, new_own
    return new_hull, moved


@compiled()
def _pin(
    joint: Joint, own: Row, x: np.float32, y: np.float32, spin: np.float32
) -> tuple[np.float32, np.float32, np.float32, bool]:
    """Hold a wheel at its place; return the hull's velocities, and whether anything moved."""
    arm_x, arm_y = joint.arm_x, joint.arm_y
    way_x = -(own[0] - x + spin * arm_y)
    way_y = -(own[1] - y - spin * arm_x)
    p_x = joint.inverse_2 * (joint.k_yy * way_x - joint.k_xy * way_y)
    p_y = joint.inverse_2 * (joint.k_xx * way_y - joint.k_xy * way_x)
    new_spin = spin - HULL_I * (arm_x * p_y - arm_y * p_x)
    x, y, moved = _push(joint, own, x, y, p_x, p_y)
    return x, y, new_spin, moved | (new_spin != spin)


@compiled()
def _pin_at_limit(
    joint: Joint, own: Row, x: np.float32, y: np.float32, spin: np.float32
) -> tuple[np.float32, np.float32, np.float32, bool]:
    """Hold a wheel at its place, and stop it from turning further; return the same as `_pin`."""
    arm_x, arm_y, last = joint.arm_x, joint.arm_y, joint.limit_impulse
    k_xx, k_xy, k_yy, k_xz, k_yz = joint.k_xx, joint.k_xy, joint.k_yy, joint.k_xz, joint.k_yz
    way_x, way_y, way_z = own[0] - x + spin * arm_y, own[1] - y - spin * arm_x, own[2] - spin
    # b2Mat33::Solve33, by Cramer's rule
    inverse = joint.inverse_3
    p_x = -inverse * (
        way_x * (k_yy * K_ZZ - k_yz * k_yz)
        + way_y * (k_yz * k_xz - k_xy * K_ZZ)
        + way_z * (k_xy * k_yz - k_yy * k_xz)
    )
    p_y = -inverse * (
        k_xx * (way_y * K_ZZ - way_z * k_yz)
        + k_xy * (way_z * k_xz - way_x * K_ZZ)
        + k_xz * (way_x * k_yz - way_y * k_xz)
    )
    p_z = -inverse * (
        k_xx * (k_yy * way_z - k_yz * way_y)
        + k_xy * (k_yz * way_x - k_xy * way_z)
        + k_xz * (k_xy * way_y - k_yy * way_x)
    )
    if (last + p_z) * joint.limit > 0:  # it would pull the wheel to the limit: let go, and only pin it
        rest_x, rest_y = -way_x + last * k_xz, -way_y + last * k_yz
        p_x = joint.inverse_2 * (k_yy * rest_x - k_xy * rest_y)
        p_y = joint.inverse_2 * (k_xx * rest_y - k_xy * rest_x)
        p_z = -last
    new_spin = spin - HULL_I * (arm_x * p_y - arm_y * p_x + p_z)
    new_own = own[2] + WHEEL_I * p_z
    x, y, moved = _push(joint, own, x, y, p_x, p_y)
    moved |= (new_spin != spin) | (new_own != own[2]) | (last + p_z != last)
    own[2], joint.limit_impulse = new_own, last + p_z
    return x, y, new_spin, moved


@compiled()
def _push(
    joint: Joint, own: Row, x: np.float32, y: np.float32, p_x: np.float32, p_y: np.float32
) -> tuple[np.float32, np.float32, bool]:
    """Push hull and wheel apart; return the hull's velocity, and whether one of them moved."""
    new_x, new_y = x - HULL_M * p_x, y - HULL_M * p_y
    own_x, own_y = own[0] + WHEEL_M * p_x, own[1] + WHEEL_M * p_y
    moved = (new_x != x) | (new_y != y) | (own_x != own[0]) | (own_y != own[1])
    own[0], own[1] = own_x, own_y
    joint.push_x, joint.push_y = p_x, p_y
    joint.impulse_x += p_x
    joint.impulse_y += p_y
    return new_x, new_y, moved
