"""Box2D's b2Island for the car: five bodies, and four joints with a motor and a limit, in float32.

A wheel's joint is at its centre of mass, so all terms of Box2D's with the wheel's arm are zero and left out.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing.physics import WHEELS, Physics
from mpi_es.envs.car_racing.shapes import (
    HULL_CENTRE_X,
    HULL_CENTRE_Y,
    HULL_INVERSE_MASS,
    HULL_INVERSE_MOMENT,
    SIZE,
    WHEEL_INVERSE_MASS,
    WHEEL_INVERSE_MOMENT,
    WHEEL_POSITIONS,
)
from mpi_es.envs.car_racing.state import BODIES, DT, World
from mpi_es.jit import compiled

F32 = np.float32
Row = NDArray[np.float32]

# Places in a row of Physics.joints: what lasts from step to step …
IMPULSE_X, IMPULSE_Y, LIMIT_IMPULSE, MOTOR_IMPULSE, MOTOR_SPEED, LIMIT = range(6)
# … and what a step begins with: the joint as seen from the hull's centre, and Box2D's m_mass: the symmetric
# matrix K and the inverse determinants of its upper 2 x 2 and of the whole
ARM_X, ARM_Y, K_XX, K_XY, K_YY, K_XZ, K_YZ, INVERSE_2, INVERSE_3 = range(6, 15)
# … and what an iteration leaves to the next
PUSH_X, PUSH_Y, NEW_IMPULSE, NEW_SPIN = range(15, 19)
_ISLAND = (3, 2, 1, 0)  # the order of joints: Box2D finds the newest first
NO_LIMIT, LOWER, UPPER = F32(0), F32(-1), F32(1)  # values of LIMIT

STEP = F32(DT)
WARMTH = (F32(1) / STEP) * STEP  # Box2D's dtRatio, by which it scales the impulses of the last step
VELOCITY_ITERATIONS, POSITION_ITERATIONS = 6 * 30, 2 * 30
MAX_MOTOR_IMPULSE = STEP * F32(180 * 900 * SIZE * SIZE)
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
LINEAR_SLOP, ANGULAR_SLOP = F32(0.005), F32(2) / F32(180) * PI
MAX_ANGULAR_CORRECTION = F32(8) / F32(180) * PI
MAX_TRANSLATION, MAX_ROTATION = F32(2), F32(0.5) * PI
TIME_TO_SLEEP = F32(0.5)
LINEAR_SLEEP, ANGULAR_SLEEP = F32(0.01) * F32(0.01), ANGULAR_SLOP * ANGULAR_SLOP
ZERO, ONE = F32(0), F32(1)


@compiled()
def solve(world: World, physics: Physics) -> None:
    """Move the car by one step."""
    for wheel in range(WHEELS):
        for axis in range(2):
            world.velocities[wheel + 1, axis] += STEP * (WHEEL_M * physics.forces[wheel, axis])
    for wheel in _ISLAND:
        _prepare(world.velocities, world.angles, physics.joints[wheel], wheel)
    _solve_velocities(world.velocities, physics.joints)
    for body in range(BODIES):
        _integrate(world.velocities[body], world.angles, physics.centres[body], body)
    solved = _solve_positions(world.angles, physics.centres, physics.joints)
    for body in range(BODIES):
        _place(world, physics.centres, body)
    _rest(world.velocities, physics.at_rest, solved)


@compiled()
def _prepare(velocities: Row, angles: Row, joint: Row, wheel: int) -> None:
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


@compiled()
def _solve_velocities(velocities: Row, joints: Row) -> None:
    """Apply impulses in all of Box2D's iterations, but for those that would change nothing.

    After some ten iterations nothing moves any more but the last bits of the wheels' spins and of the
    impulses, which may go on to the end.
    """
    done = 0
    while done < VELOCITY_ITERATIONS:
        moved = _iterate(velocities, joints)
        done += 1
        if not moved:
            done = _iterate_at_rest(velocities, joints, done)


@compiled()
def _iterate(velocities: Row, joints: Row) -> bool:
    """Let each joint push and turn hull and wheel; return whether more moves than a free wheel's spin."""
    x, y, spin, moved = velocities[0, 0], velocities[0, 1], velocities[0, 2], False
    for wheel in _ISLAND:
        joint, own = joints[wheel], velocities[wheel + 1]
        spin, motor_moved = _turn(joint, own, spin)
        if joint[LIMIT] == NO_LIMIT:
            x, y, spin, pin_moved = _pin(joint, own, x, y, spin)
        else:
            x, y, spin, pin_moved = _pin_at_limit(joint, own, x, y, spin)
        moved |= motor_moved | pin_moved
    velocities[0, 0], velocities[0, 1], velocities[0, 2] = x, y, spin
    return moved


@compiled()
def _iterate_at_rest(velocities: Row, joints: Row, done: int) -> int:
    """Iterate as long as only the wheels' spins move; return the number of iterations then done.

    The pins then push as in the last iteration, and each wheel is alone with its motor.
    """
    hull_spin = velocities[0, 2]
    while done < VELOCITY_ITERATIONS:
        hull_moved = changed = False
        for wheel in range(WHEELS):
            joint, spin = joints[wheel], velocities[wheel + 1, 2]
            joint[NEW_IMPULSE] = _motor_impulse(joint, spin, hull_spin)
            more = joint[NEW_IMPULSE] - joint[MOTOR_IMPULSE]
            joint[NEW_SPIN] = spin + WHEEL_I * more
            hull_moved |= hull_spin - HULL_I * more != hull_spin
            changed |= (joint[NEW_IMPULSE] != joint[MOTOR_IMPULSE]) | (joint[NEW_SPIN] != spin)
        if hull_moved:
            return done
        for wheel in range(WHEELS):
            joint = joints[wheel]
            joint[MOTOR_IMPULSE], velocities[wheel + 1, 2] = joint[NEW_IMPULSE], joint[NEW_SPIN]
            sum_x, sum_y = joint[IMPULSE_X] + joint[PUSH_X], joint[IMPULSE_Y] + joint[PUSH_Y]
            changed |= (sum_x != joint[IMPULSE_X]) | (sum_y != joint[IMPULSE_Y])
            joint[IMPULSE_X], joint[IMPULSE_Y] = sum_x, sum_y
        done += 1
        if not changed:
            return VELOCITY_ITERATIONS
    return done


@compiled()
def _motor_impulse(joint: Row, own_spin: np.float32, hull_spin: np.float32) -> np.float32:
    """Return a motor's impulse after one more iteration."""
    impulse = joint[MOTOR_IMPULSE] - MOTOR_MASS * (own_spin - hull_spin - joint[MOTOR_SPEED])
    impulse = impulse if impulse < MAX_MOTOR_IMPULSE else MAX_MOTOR_IMPULSE
    return impulse if impulse > -MAX_MOTOR_IMPULSE else -MAX_MOTOR_IMPULSE


@compiled()
def _turn(joint: Row, own: Row, hull_spin: np.float32) -> tuple[np.float32, bool]:
    """Let a motor turn its wheel; return the hull's spin, and whether that or a wheel at its limit moved."""
    before = joint[MOTOR_IMPULSE]
    impulse = _motor_impulse(joint, own[2], hull_spin)
    more = impulse - before
    new_hull, new_own = hull_spin - HULL_I * more, own[2] + WHEEL_I * more
    changed = (impulse != before) | (new_own != own[2])
    moved = (new_hull != hull_spin) | (changed & (joint[LIMIT] != NO_LIMIT))
    joint[MOTOR_IMPULSE], own[2] = impulse, new_own
    return new_hull, moved


@compiled()
def _pin(
    joint: Row, own: Row, x: np.float32, y: np.float32, spin: np.float32
) -> tuple[np.float32, np.float32, np.float32, bool]:
    """Hold a wheel at its place; return the hull's velocities, and whether anything moved."""
    arm_x, arm_y = joint[ARM_X], joint[ARM_Y]
    way_x = -(own[0] - x + spin * arm_y)
    way_y = -(own[1] - y - spin * arm_x)
    p_x = joint[INVERSE_2] * (joint[K_YY] * way_x - joint[K_XY] * way_y)
    p_y = joint[INVERSE_2] * (joint[K_XX] * way_y - joint[K_XY] * way_x)
    new_spin = spin - HULL_I * (arm_x * p_y - arm_y * p_x)
    x, y, moved = _push(joint, own, x, y, p_x, p_y)
    return x, y, new_spin, moved | (new_spin != spin)


@compiled()
def _pin_at_limit(
    joint: Row, own: Row, x: np.float32, y: np.float32, spin: np.float32
) -> tuple[np.float32, np.float32, np.float32, bool]:
    """Hold a wheel at its place and from turning further; return as `_pin`."""
    arm_x, arm_y, last = joint[ARM_X], joint[ARM_Y], joint[LIMIT_IMPULSE]
    k_xx, k_xy, k_yy, k_xz, k_yz = joint[K_XX], joint[K_XY], joint[K_YY], joint[K_XZ], joint[K_YZ]
    way_x, way_y, way_z = own[0] - x + spin * arm_y, own[1] - y - spin * arm_x, own[2] - spin
    # b2Mat33::Solve33, by Cramer's rule
    inverse = joint[INVERSE_3]
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
    if (last + p_z) * joint[LIMIT] > 0:  # it would pull the wheel to the limit: let go, and only pin it
        rest_x, rest_y = -way_x + last * k_xz, -way_y + last * k_yz
        p_x = joint[INVERSE_2] * (k_yy * rest_x - k_xy * rest_y)
        p_y = joint[INVERSE_2] * (k_xx * rest_y - k_xy * rest_x)
        p_z = -last
    new_spin = spin - HULL_I * (arm_x * p_y - arm_y * p_x + p_z)
    new_own = own[2] + WHEEL_I * p_z
    x, y, moved = _push(joint, own, x, y, p_x, p_y)
    moved |= (new_spin != spin) | (new_own != own[2]) | (last + p_z != last)
    own[2], joint[LIMIT_IMPULSE] = new_own, last + p_z
    return x, y, new_spin, moved


@compiled()
def _push(
    joint: Row, own: Row, x: np.float32, y: np.float32, p_x: np.float32, p_y: np.float32
) -> tuple[np.float32, np.float32, bool]:
    """Push hull and wheel apart; return the hull's velocity, and whether one of them moved."""
    new_x, new_y = x - HULL_M * p_x, y - HULL_M * p_y
    own_x, own_y = own[0] + WHEEL_M * p_x, own[1] + WHEEL_M * p_y
    moved = (new_x != x) | (new_y != y) | (own_x != own[0]) | (own_y != own[1])
    own[0], own[1] = own_x, own_y
    joint[PUSH_X], joint[PUSH_Y] = p_x, p_y
    joint[IMPULSE_X] += p_x
    joint[IMPULSE_Y] += p_y
    return new_x, new_y, moved


@compiled()
def _integrate(velocity: Row, angles: Row, centre: Row, body: int) -> None:
    """Move a body by its velocities, which Box2D caps."""
    x, y, turn = STEP * velocity[0], STEP * velocity[1], STEP * velocity[2]
    if x * x + y * y > MAX_TRANSLATION * MAX_TRANSLATION:
        ratio = MAX_TRANSLATION / math.sqrt(x * x + y * y)
        velocity[0] *= ratio
        velocity[1] *= ratio
    if turn * turn > MAX_ROTATION * MAX_ROTATION:
        velocity[2] *= MAX_ROTATION / abs(turn)
    centre[0] += STEP * velocity[0]
    centre[1] += STEP * velocity[1]
    angles[body] += STEP * velocity[2]


@compiled()
def _solve_positions(angles: Row, centres: Row, joints: Row) -> bool:
    """Move the bodies until the joints hold; return whether they do."""
    for _ in range(POSITION_ITERATIONS):
        hold, changed = True, False
        for wheel in _ISLAND:
            angular_error, turned = _turn_back(angles, joints[wheel, LIMIT], wheel)
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


@compiled()
def _place(world: World, centres: Row, body: int) -> None:
    """Find a body's transform from its centre of mass: SynchronizeTransform."""
    sine, cosine = math.sin(world.angles[body]), math.cos(world.angles[body])
    transform, x, y = world.transforms[body], centres[body, 0], centres[body, 1]
    if body == 0:
        x -= cosine * HULL_CENTRE_X - sine * HULL_CENTRE_Y
        y -= sine * HULL_CENTRE_X + cosine * HULL_CENTRE_Y
    transform[0], transform[1], transform[2], transform[3] = x, y, sine, cosine


@compiled()
def _rest(velocities: Row, at_rest: Row, solved: bool) -> None:
    """Stop a car that has hardly moved for half a second: Box2D's sleep, from which forces wake it."""
    least = F32(np.inf)
    for body in range(BODIES):
        x, y, spin = velocities[body, 0], velocities[body, 1], velocities[body, 2]
        moves = spin * spin > ANGULAR_SLEEP or x * x + y * y > LINEAR_SLEEP
        at_rest[body] = ZERO if moves else at_rest[body] + STEP
        least = min(least, at_rest[body])
    if least >= TIME_TO_SLEEP and solved:
        velocities[:] = ZERO
        at_rest[:] = ZERO
