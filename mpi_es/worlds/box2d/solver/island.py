"""The main part of a step: b2World::Solve and b2Island::Solve of the one island."""

import math

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.boxes import find_new_contacts, move_box
from mpi_es.worlds.box2d.records import Body, Scene
from mpi_es.worlds.box2d.settings import (
    BAUMGARTE,
    F32,
    LINEAR_SLOP,
    MAX_ROTATION,
    MAX_TRANSLATION,
    ONE,
    POSITION_ITERATIONS,
    STEP,
    VELOCITY_ITERATIONS,
)
from mpi_es.worlds.box2d.sines import sine_cosine
from mpi_es.worlds.box2d.solver.joints import correct_joints, iterate_joint, prepare_joint
from mpi_es.worlds.box2d.solver.positions import correct_rows
from mpi_es.worlds.box2d.solver.rows import add_row, iterate_rows, prepare_rows, store_impulses, warm_start
from mpi_es.worlds.box2d.solver.sleep import any_awake, sleep_after_rest, wake
from mpi_es.worlds.box2d.vectors import rotate

_DEEPEST = F32(-3) * LINEAR_SLOP  # the least separation that counts as solved


@compiled()
def solve(scene: Scene) -> None:
    """Move the island by a step, unless it sleeps."""
    if any_awake(scene):
        begin_solve(scene)
        iterate_velocities(scene)
        end_solve(scene)
    find_new_contacts(scene)


@compiled()
def begin_solve(scene: Scene) -> None:
    """Apply forces and the last step's impulses."""
    for i in range(len(scene.bodies)):
        body = scene.bodies[i]
        wake(body)
        keep_start(body)
        body.velocity_x += STEP * (body.inverse_mass * body.force_x)
        body.velocity_y += STEP * (ONE * scene.gravity + body.inverse_mass * body.force_y)
        body.spin += STEP * body.inverse_moment * body.torque
    _collect_rows(scene)
    prepare_rows(scene)
    warm_start(scene)
    for i in range(len(scene.joints)):
        joint = scene.joints[scene.joint_order[i]]
        prepare_joint(joint, scene.bodies[joint.a], scene.bodies[joint.b], scene.warmth)


@compiled()
def keep_start(body: Body) -> None:
    """Begin a sweep where the body is."""
    body.x0, body.y0, body.angle0 = body.x, body.y, body.angle
    body.old_sine, body.old_cosine = body.sine, body.cosine
    turned_x, turned_y = rotate(body.sine, body.cosine, body.local_x, body.local_y)
    body.old_origin_x, body.old_origin_y = body.x - turned_x, body.y - turned_y


@compiled()
def _collect_rows(scene: Scene) -> None:
    """List the touching contacts, body by body, the newest first."""
    scene.row_count = 0
    for i in range(len(scene.bodies)):
        for place in range(scene.contact_count - 1, -1, -1):
            contact = scene.contacts[place]
            if contact.body == scene.body_order[i] and contact.enabled and contact.touching:
                add_row(scene, place, scene.warmth)


@compiled()
def iterate_velocities(scene: Scene) -> None:
    """Let joints and contacts push repeatedly."""
    for _ in range(VELOCITY_ITERATIONS):
        for i in range(len(scene.joints)):
            joint = scene.joints[scene.joint_order[i]]
            iterate_joint(joint, scene.bodies[joint.a], scene.bodies[joint.b])
        iterate_rows(scene)


@compiled()
def end_solve(scene: Scene) -> None:
    """Move the bodies, correct their positions, and let them sleep if they rest."""
    store_impulses(scene)
    for i in range(len(scene.bodies)):
        integrate(scene.bodies[i], STEP)
    solved = _correct_positions(scene)
    for i in range(len(scene.bodies)):
        find_transform(scene.bodies[i])
    sleep_after_rest(scene, solved)
    for i in range(len(scene.bodies)):
        move_box(scene.bodies[i])


@compiled()
def integrate(body: Body, time: np.float32) -> None:
    """Limit a body's velocities and move it."""
    way_x, way_y, turn = time * body.velocity_x, time * body.velocity_y, time * body.spin
    square = way_x * way_x + way_y * way_y
    if square > MAX_TRANSLATION * MAX_TRANSLATION:
        ratio = MAX_TRANSLATION / F32(math.sqrt(square))
        body.velocity_x *= ratio
        body.velocity_y *= ratio
    if turn * turn > MAX_ROTATION * MAX_ROTATION:
        body.spin *= MAX_ROTATION / abs(turn)
    body.x += time * body.velocity_x
    body.y += time * body.velocity_y
    body.angle += time * body.spin


@compiled()
def _correct_positions(scene: Scene) -> bool:
    """Correct positions until the errors are small; return whether they are."""
    for _ in range(POSITION_ITERATIONS):
        small = correct_rows(scene, BAUMGARTE) >= _DEEPEST
        small &= correct_joints(scene)
        if small:
            return True
    return False


@compiled()
def find_transform(body: Body) -> None:
    """Place a body's frame by its centre and angle: b2Body::SynchronizeTransform."""
    body.sine, body.cosine = sine_cosine(body.angle)
    turned_x, turned_y = rotate(body.sine, body.cosine, body.local_x, body.local_y)
    body.origin_x, body.origin_y = body.x - turned_x, body.y - turned_y
