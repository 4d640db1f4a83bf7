"""Gymnasium's Car, without its drawing: what the driver does to the wheels, and what the tyres do to the car.

As in car_dynamics.py, everything is computed in double from Box2D's floats; only the results are floats
again.
"""

import math

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.settings import F32, F64, ZERO
from mpi_es.worlds.car_racing.physics.arrays import BRAKE, GAS, STEER, WHEELS, Physics
from mpi_es.worlds.car_racing.physics.bodies import (
    HULL_CENTRE_X,
    HULL_CENTRE_Y,
    SIZE,
    WHEEL_POSITIONS,
    WHEEL_R,
)
from mpi_es.worlds.car_racing.physics.joints import NO_LIMIT
from mpi_es.worlds.car_racing.state import BODIES, DT, World

# As in gymnasium's car_dynamics.py
ENGINE_POWER = 100000000 * SIZE * SIZE
WHEEL_MOMENT_OF_INERTIA = 4000 * SIZE * SIZE
FRICTION_LIMIT = 1000000 * SIZE * SIZE
GRASS_FRICTION = FRICTION_LIMIT * 0.6
CUT_OSCILLATION = 205000 * SIZE * SIZE
BRAKE_FORCE = 15  # radians per second
WHEEL_RAD = 1.0 * WHEEL_R * SIZE
FRONT, REAR = (0, 1), (2, 3)  # wheels
_ANCHORS = np.array(WHEEL_POSITIONS) * SIZE


@compiled()
def place_car(world: World, physics: Physics) -> None:
    """Put a new car at the track's start, with its wheels as at angle 0:
    the first step snaps them into place.
    """
    angle, x, y = F32(world.start[0]), world.start[1], world.start[2]
    sine, cosine = math.sin(angle), math.cos(angle)
    for body in range(BODIES):
        place_x = F32(x if body == 0 else x + _ANCHORS[body - 1, 0])
        place_y = F32(y if body == 0 else y + _ANCHORS[body - 1, 1])
        world.transforms[body, 0], world.transforms[body, 1] = place_x, place_y
        world.transforms[body, 2], world.transforms[body, 3] = sine, cosine
        physics.centres[body, 0], physics.centres[body, 1] = place_x, place_y
    physics.centres[0, 0] = (cosine * HULL_CENTRE_X - sine * HULL_CENTRE_Y) + world.transforms[0, 0]
    physics.centres[0, 1] = (sine * HULL_CENTRE_X + cosine * HULL_CENTRE_Y) + world.transforms[0, 1]
    world.angles[:] = angle
    world.velocities[:] = 0
    world.omega[:] = 0
    world.phase[:] = 0
    physics.controls[:] = 0
    physics.on_road[:] = 0
    physics.at_rest[:] = 0
    for wheel in range(WHEELS):
        joint = physics.joints[wheel]
        joint.impulse_x = joint.impulse_y = joint.limit_impulse = joint.motor_impulse = ZERO
        joint.limit = NO_LIMIT


@compiled()
def control(physics: Physics, steer: float, gas: float, brake: float) -> None:
    """Set the driver's controls: steer the front wheels, gas for the rear wheels, brake for all.

    Args:
        steer: -1 left to 1 right, as in gymnasium's actions.
    """
    gas = min(max(gas, 0.0), 1.0)
    for wheel in FRONT:
        physics.controls[wheel, STEER] = -steer
    for wheel in REAR:
        more = gas - physics.controls[wheel, GAS]
        physics.controls[wheel, GAS] += min(more, 0.1)  # gradually increase, but stop immediately
    for wheel in range(WHEELS):
        physics.controls[wheel, BRAKE] = brake


@compiled()
def push(world: World, physics: Physics) -> None:
    """Turn the joints' motors, spin the wheels and find the tyres' forces: gymnasium's Car.step."""
    for wheel in range(WHEELS):
        controls = physics.controls[wheel]
        joint_angle = F64(world.angles[wheel + 1] - world.angles[0])
        physics.joints[wheel].motor_speed = F32(_motor_speed(controls[STEER] - joint_angle))
        omega = _spin(world.omega[wheel], controls[GAS], controls[BRAKE])
        world.phase[wheel] += omega * DT
        limit = FRICTION_LIMIT if physics.on_road[wheel] else GRASS_FRICTION
        world.omega[wheel] = _grip(world, physics, wheel, omega, limit)


@compiled()
def _motor_speed(difference: float) -> float:
    """Return the speed at which a joint's motor turns towards the requested angle."""
    sign = float((difference > 0) - (difference < 0))
    return sign * min(50.0 * abs(difference), 3.0)


@compiled()
def _spin(omega: float, gas: float, brake: float) -> float:
    """Return a wheel's spin after engine and brake."""
    # 5 avoids a division by zero
    omega += DT * ENGINE_POWER * gas / WHEEL_MOMENT_OF_INERTIA / (abs(omega) + 5.0)
    if brake >= 0.9:
        return 0.0
    if brake > 0:
        loss = min(abs(BRAKE_FORCE * brake), abs(omega))
        omega -= loss if omega > 0 else -loss
    return omega


@compiled()
def _grip(world: World, physics: Physics, wheel: int, omega: float, limit: float) -> float:
    """Write a tyre's force, which is at most `limit`, and return the spin that it leaves."""
    sine, cosine = F64(world.transforms[wheel + 1, 2]), F64(world.transforms[wheel + 1, 3])
    v_x, v_y = F64(world.velocities[wheel + 1, 0]), F64(world.velocities[wheel + 1, 1])
    forward_speed = -sine * v_x + cosine * v_y
    side_speed = cosine * v_x + sine * v_y
    f_force = (-forward_speed + omega * WHEEL_RAD) * CUT_OSCILLATION
    p_force = -side_speed * CUT_OSCILLATION
    force = math.sqrt(f_force * f_force + p_force * p_force)
    if force > limit:
        f_force = f_force / force * limit
        p_force = p_force / force * limit
    physics.forces[wheel, 0] = F32(p_force * cosine + f_force * -sine)
    physics.forces[wheel, 1] = F32(p_force * sine + f_force * cosine)
    return omega - DT * f_force * WHEEL_RAD / WHEEL_MOMENT_OF_INERTIA
