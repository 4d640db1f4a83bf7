"""Corrections of positions: b2ContactSolver::SolvePositionConstraints, of the step and of an impact."""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.collision.clipping import FACE_A_IS_REFERENCE
from mpi_es.worlds.box2d.records import Body, Contact, Scene
from mpi_es.worlds.box2d.settings import F32, LINEAR_SLOP, MAX_LINEAR_CORRECTION, RADIUS, ZERO
from mpi_es.worlds.box2d.sines import sine_cosine
from mpi_es.worlds.box2d.vectors import clamp, lesser, rotate


@compiled()
def correct_rows(scene: Scene, factor: np.float32) -> np.float32:
    """Push each body out of the terrain, point by point; return the smallest separation.

    Args:
        factor: the share of an error that is corrected at once.
    """
    least = ZERO
    for i in range(scene.row_count):
        row = scene.rows[i]
        contact, body = scene.contacts[row.contact], scene.bodies[row.body]
        for j in range(row.all_points):
            x, y, n_x, n_y, separation = _find_point(contact, body, j)
            least = lesser(least, separation)
            arm_x, arm_y = x - body.x, y - body.y
            correction = clamp(factor * (separation + LINEAR_SLOP), -MAX_LINEAR_CORRECTION, ZERO)
            arm = arm_x * n_y - arm_y * n_x
            impulse = -correction / (body.inverse_mass + body.inverse_moment * arm * arm)
            p_x, p_y = impulse * n_x, impulse * n_y
            body.x += body.inverse_mass * p_x
            body.y += body.inverse_mass * p_y
            body.angle += body.inverse_moment * (arm_x * p_y - arm_y * p_x)
    return least


@compiled()
def _find_point(
    contact: Contact, body: Body, j: int
) -> tuple[np.float32, np.float32, np.float32, np.float32, np.float32]:
    """Return a point, its normal towards the body, and its separation: b2PositionSolverManifold."""
    sine, cosine = sine_cosine(body.angle)
    turned_x, turned_y = rotate(sine, cosine, body.local_x, body.local_y)
    origin_x, origin_y = body.x - turned_x, body.y - turned_y
    x, y, plane_x, plane_y = contact.points[j, 0], contact.points[j, 1], contact.plane_x, contact.plane_y
    if contact.face == FACE_A_IS_REFERENCE:
        x, y = rotate(sine, cosine, x, y)
        x, y = x + origin_x, y + origin_y
        n_x, n_y = contact.normal_x, contact.normal_y
        separation = (x - plane_x) * n_x + (y - plane_y) * n_y - RADIUS - RADIUS
        return x, y, n_x, n_y, F32(separation)
    n_x, n_y = rotate(sine, cosine, contact.normal_x, contact.normal_y)
    plane_x, plane_y = rotate(sine, cosine, plane_x, plane_y)
    plane_x, plane_y = plane_x + origin_x, plane_y + origin_y
    separation = (x - plane_x) * n_x + (y - plane_y) * n_y - RADIUS - RADIUS
    return x, y, -n_x, -n_y, F32(separation)
