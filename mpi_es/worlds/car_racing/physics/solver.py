"""Box2D's b2Island for the car: five bodies and four joints, moved by one step, in float32."""

import math

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.settings import (
    ANGULAR_SLEEP,
    F32,
    LINEAR_SLEEP,
    MAX_ROTATION,
    MAX_TRANSLATION,
    STEP,
    TIME_TO_SLEEP,
    ZERO,
)
from mpi_es.worlds.car_racing.physics.arrays import WHEELS, Physics
from mpi_es.worlds.car_racing.physics.bodies import HULL_CENTRE_X, HULL_CENTRE_Y
from mpi_es.worlds.car_racing.physics.joints import ISLAND, WHEEL_M, Row, prepare
from mpi_es.worlds.car_racing.physics.positions import solve_positions
from mpi_es.worlds.car_racing.physics.velocities import solve_velocities
from mpi_es.worlds.car_racing.state import BODIES, World


@compiled()
def solve(world: World, physics: Physics) -> None:
    """Move the car by one step."""
    for wheel in range(WHEELS):
        for axis in range(2):
            world.velocities[wheel + 1, axis] += STEP * (WHEEL_M * physics.forces[wheel, axis])
    for wheel in ISLAND:
        prepare(world.velocities, world.angles, physics.joints[wheel], wheel)
    solve_velocities(world.velocities, physics.joints)
    for body in range(BODIES):
        _integrate(world.velocities[body], world.angles, physics.centres[body], body)
    solved = solve_positions(world.angles, physics.centres, physics.joints)
    for body in range(BODIES):
        _place(world, physics.centres, body)
    _rest(world.velocities, physics.at_rest, solved)


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
        moves = spin * spin > ANGULAR_SLEEP * ANGULAR_SLEEP or x * x + y * y > LINEAR_SLEEP * LINEAR_SLEEP
        at_rest[body] = ZERO if moves else at_rest[body] + STEP
        least = min(least, at_rest[body])
    if least >= TIME_TO_SLEEP and solved:
        velocities[:] = ZERO
        at_rest[:] = ZERO
