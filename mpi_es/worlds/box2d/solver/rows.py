"""Touching contacts in the velocity solver: b2ContactSolver, in float32. A row is a contact.

The terrain (A) does not move, so only the body's terms occur; impulses push it along the row's normal.
"""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.collision.clipping import FACE_A_IS_REFERENCE
from mpi_es.worlds.box2d.records import Body, Contact, Row, Scene
from mpi_es.worlds.box2d.settings import F32, HALF, ONE, RADIUS, ZERO
from mpi_es.worlds.box2d.vectors import Pair, clamp, greater, rotate

_MOST_CONDITION = F32(1000)  # of the matrix of two points; beyond it one of them is solved


@compiled()
def add_row(scene: Scene, place: int, warmth: np.float32) -> None:
    """Append a contact to the solver's rows, with a share of its last impulses."""
    contact, row = scene.contacts[place], scene.rows[scene.row_count]
    scene.row_count += 1
    row.contact, row.body = place, contact.body
    row.count, row.all_points, row.friction = contact.count, contact.count, contact.friction
    for i in range(2):
        row.normal_impulses[i] = warmth * contact.normal_impulses[i]
        row.tangent_impulses[i] = warmth * contact.tangent_impulses[i]


@compiled()
def prepare_rows(scene: Scene) -> None:
    """Find normals, arms and masses at the bodies' positions: InitializeVelocityConstraints."""
    for i in range(scene.row_count):
        row = scene.rows[i]
        contact, body = scene.contacts[row.contact], scene.bodies[row.body]
        turned_x, turned_y = rotate(body.sine, body.cosine, body.local_x, body.local_y)
        origin_x, origin_y = body.x - turned_x, body.y - turned_y
        if contact.face == FACE_A_IS_REFERENCE:
            row.normal_x, row.normal_y = contact.normal_x, contact.normal_y
        else:
            n_x, n_y = rotate(body.sine, body.cosine, contact.normal_x, contact.normal_y)
            row.normal_x, row.normal_y = -n_x, -n_y
        for j in range(row.count):
            x, y = _middle(contact, body, origin_x, origin_y, j)
            row.arms[j, 0], row.arms[j, 1] = x - body.x, y - body.y
            row.normal_mass[j] = ONE / _mass_along(row, body, j, row.normal_x, row.normal_y)
            row.tangent_mass[j] = ONE / _mass_along(row, body, j, row.normal_y, -row.normal_x)
        if row.count == 2:
            _prepare_block(row, body)


@compiled()
def _middle(contact: Contact, body: Body, origin_x: np.float32, origin_y: np.float32, j: int) -> Pair:
    """Return the point between the two skins: b2WorldManifold::Initialize."""
    point_x, point_y = contact.points[j, 0], contact.points[j, 1]
    n_x, n_y, plane_x, plane_y = contact.normal_x, contact.normal_y, contact.plane_x, contact.plane_y
    if contact.face == FACE_A_IS_REFERENCE:
        point_x, point_y = rotate(body.sine, body.cosine, point_x, point_y)
        point_x, point_y = point_x + origin_x, point_y + origin_y
    else:
        n_x, n_y = rotate(body.sine, body.cosine, n_x, n_y)
        plane_x, plane_y = rotate(body.sine, body.cosine, plane_x, plane_y)
        plane_x, plane_y = plane_x + origin_x, plane_y + origin_y
    depth = RADIUS - ((point_x - plane_x) * n_x + (point_y - plane_y) * n_y)
    on_reference_x, on_reference_y = point_x + depth * n_x, point_y + depth * n_y
    on_incident_x, on_incident_y = point_x - RADIUS * n_x, point_y - RADIUS * n_y
    return HALF * (on_reference_x + on_incident_x), HALF * (on_reference_y + on_incident_y)


@compiled()
def _mass_along(row: Row, body: Body, j: int, x: np.float32, y: np.float32) -> np.float32:
    """Return the inverse of a point's effective mass in a direction; a body's inverse mass is above 0."""
    arm = row.arms[j, 0] * y - row.arms[j, 1] * x
    return F32(body.inverse_mass + body.inverse_moment * arm * arm)


@compiled()
def _prepare_block(row: Row, body: Body) -> None:
    """Find the matrix of both points, or use only one point if the matrix is nearly singular."""
    mass, moment = body.inverse_mass, body.inverse_moment
    arm0 = row.arms[0, 0] * row.normal_y - row.arms[0, 1] * row.normal_x
    arm1 = row.arms[1, 0] * row.normal_y - row.arms[1, 1] * row.normal_x
    k_11, k_22 = mass + moment * arm0 * arm0, mass + moment * arm1 * arm1
    k_12 = mass + moment * arm0 * arm1
    determinant = k_11 * k_22 - k_12 * k_12
    if not k_11 * k_11 < _MOST_CONDITION * determinant:
        row.count = 1
        return
    row.k_11, row.k_12, row.k_22 = k_11, k_12, k_22
    inverse = ONE / determinant
    row.m_11, row.m_12, row.m_22 = inverse * k_22, -inverse * k_12, inverse * k_11


@compiled()
def warm_start(scene: Scene) -> None:
    """Apply the impulses with which the rows begin."""
    for i in range(scene.row_count):
        row = scene.rows[i]
        body = scene.bodies[row.body]
        for j in range(row.count):
            normal, tangent = row.normal_impulses[j], row.tangent_impulses[j]
            x = normal * row.normal_x + tangent * row.normal_y
            y = normal * row.normal_y + tangent * -row.normal_x
            body.spin += body.inverse_moment * (row.arms[j, 0] * y - row.arms[j, 1] * x)
            body.velocity_x += body.inverse_mass * x
            body.velocity_y += body.inverse_mass * y


@compiled()
def iterate_rows(scene: Scene) -> None:
    """Apply friction and normal impulses of each contact once: SolveVelocityConstraints."""
    for i in range(scene.row_count):
        row = scene.rows[i]
        body = scene.bodies[row.body]
        for j in range(row.count):
            _rub(row, body, j)
        if row.count == 1:
            _push_at_one_point(row, body)
        else:
            _push_at_two_points(row, body)


@compiled()
def _velocity(row: Row, body: Body, j: int, x: np.float32, y: np.float32) -> np.float32:
    """Return a point's velocity in a direction."""
    return F32(
        (body.velocity_x - body.spin * row.arms[j, 1]) * x
        + (body.velocity_y + body.spin * row.arms[j, 0]) * y
    )


@compiled()
def _push(row: Row, body: Body, j: int, x: np.float32, y: np.float32) -> None:
    """Apply an impulse at a point."""
    body.velocity_x += body.inverse_mass * x
    body.velocity_y += body.inverse_mass * y
    body.spin += body.inverse_moment * (row.arms[j, 0] * y - row.arms[j, 1] * x)


@compiled()
def _rub(row: Row, body: Body, j: int) -> None:
    """Apply friction at a point, at most as the normal impulse allows."""
    x, y = row.normal_y, -row.normal_x
    change = row.tangent_mass[j] * -_velocity(row, body, j, x, y)
    most = row.friction * row.normal_impulses[j]
    impulse = clamp(row.tangent_impulses[j] + change, -most, most)
    change = impulse - row.tangent_impulses[j]
    row.tangent_impulses[j] = impulse
    _push(row, body, j, change * x, change * y)


@compiled()
def _push_at_one_point(row: Row, body: Body) -> None:
    """Stop the only point from sinking in."""
    change = -row.normal_mass[0] * _velocity(row, body, 0, row.normal_x, row.normal_y)
    impulse = greater(row.normal_impulses[0] + change, ZERO)
    change = impulse - row.normal_impulses[0]
    row.normal_impulses[0] = impulse
    _push(row, body, 0, change * row.normal_x, change * row.normal_y)


@compiled()
def _push_at_two_points(row: Row, body: Body) -> None:
    """Stop both points from sinking in: Box2D's block solver."""
    n_x, n_y = row.normal_x, row.normal_y
    before0, before1 = row.normal_impulses[0], row.normal_impulses[1]
    b0 = _velocity(row, body, 0, n_x, n_y) - (row.k_11 * before0 + row.k_12 * before1)
    b1 = _velocity(row, body, 1, n_x, n_y) - (row.k_12 * before0 + row.k_22 * before1)
    solved, impulse0, impulse1 = _block_impulses(row, b0, b1)
    if not solved:
        return
    change0, change1 = impulse0 - before0, impulse1 - before1
    x0, y0, x1, y1 = change0 * n_x, change0 * n_y, change1 * n_x, change1 * n_y
    body.velocity_x += body.inverse_mass * (x0 + x1)
    body.velocity_y += body.inverse_mass * (y0 + y1)
    turn0 = row.arms[0, 0] * y0 - row.arms[0, 1] * x0
    turn1 = row.arms[1, 0] * y1 - row.arms[1, 1] * x1
    body.spin += body.inverse_moment * (turn0 + turn1)
    row.normal_impulses[0], row.normal_impulses[1] = impulse0, impulse1


@compiled()
def _block_impulses(row: Row, b0: np.float32, b1: np.float32) -> tuple[bool, np.float32, np.float32]:
    """Return whether one of Box2D's four cases holds, and the impulses of the first that does."""
    impulse0, impulse1 = -(row.m_11 * b0 + row.m_12 * b1), -(row.m_12 * b0 + row.m_22 * b1)
    if impulse0 >= ZERO and impulse1 >= ZERO:
        return True, impulse0, impulse1
    impulse0 = -row.normal_mass[0] * b0  # only the first point is pushed
    if impulse0 >= ZERO and row.k_12 * impulse0 + b1 >= ZERO:
        return True, impulse0, ZERO
    impulse1 = -row.normal_mass[1] * b1
    if impulse1 >= ZERO and row.k_12 * impulse1 + b0 >= ZERO:
        return True, ZERO, impulse1
    return bool(b0 >= ZERO and b1 >= ZERO), ZERO, ZERO


@compiled()
def store_impulses(scene: Scene) -> None:
    """Keep the impulses for the next step."""
    for i in range(scene.row_count):
        row = scene.rows[i]
        contact = scene.contacts[row.contact]
        for j in range(row.count):
            contact.normal_impulses[j], contact.tangent_impulses[j] = (
                row.normal_impulses[j],
                row.tangent_impulses[j],
            )
