"""Impacts within a step, one after another: b2World::SolveTOI and b2Island::SolveTOI."""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.boxes import find_new_contacts, move_box
from mpi_es.worlds.box2d.collision.contacts import update
from mpi_es.worlds.box2d.collision.time_of_impact import TARGET, TOLERANCE, time_of_impact
from mpi_es.worlds.box2d.records import Body, Contact, Piece, Scene
from mpi_es.worlds.box2d.settings import (
    EPSILON,
    F32,
    IMPACT_BAUMGARTE,
    LARGEST,
    LINEAR_SLOP,
    ONE,
    STEP,
    TWO,
    VELOCITY_ITERATIONS,
    ZERO,
)
from mpi_es.worlds.box2d.sines import sine_cosine
from mpi_es.worlds.box2d.solver.island import find_transform, integrate, keep_start
from mpi_es.worlds.box2d.solver.positions import correct_rows
from mpi_es.worlds.box2d.solver.rows import add_row, iterate_rows, prepare_rows
from mpi_es.worlds.box2d.solver.sleep import wake
from mpi_es.worlds.box2d.vectors import Pair, greater, lesser, rotate

_AT_END = ONE - F32(10) * EPSILON  # an impact later than this is none
_MOST_IMPACTS = 8  # of a contact in a step: b2_maxSubSteps
_MOST_ROWS = 32  # b2_maxTOIContacts
_POSITION_ITERATIONS, _DEEPEST = 20, F32(-1.5) * LINEAR_SLOP
_APART = TARGET + TOLERANCE + F32(0.002)  # 2 mm cover float32's rounding at the end of the walker's course


@compiled()
def solve_impacts(scene: Scene) -> None:
    """Stop each body where it first touches the terrain, and let it bounce through the rest of the step."""
    for i in range(len(scene.bodies)):
        scene.bodies[i].alpha0 = ZERO
    for i in range(scene.piece_count):
        scene.alpha0[i] = ZERO
    for i in range(scene.contact_count):
        contact = scene.contacts[i]
        contact.impact_known, contact.impacts, contact.impact = 0, 0, ONE
    while True:
        place, alpha = _first_impact(scene)
        if place < 0 or alpha > _AT_END:
            return
        if _move_to_impact(scene, scene.contacts[place], alpha):
            _bounce(scene, place, alpha)


@compiled()
def _first_impact(scene: Scene) -> tuple[int, np.float32]:
    """Return the contact with the first impact, or -1, and when."""
    place, least = -1, ONE
    for i in range(scene.contact_count - 1, -1, -1):
        contact = scene.contacts[i]
        if contact.enabled == 0 or contact.impacts > _MOST_IMPACTS:
            continue
        alpha = contact.impact if contact.impact_known else _find_impact(scene, contact)
        if alpha < least:
            place, least = i, alpha
    return place, least


@compiled()
def _find_impact(scene: Scene, contact: Contact) -> np.float32:
    """Return when a body touches a piece: 1 if not in this step, 2 if it sleeps."""
    body, piece = scene.bodies[contact.body], scene.pieces[contact.piece]
    if body.awake == 0:
        return TWO
    alpha0 = scene.alpha0[piece.body]
    if alpha0 < body.alpha0:
        alpha0 = body.alpha0
        scene.alpha0[piece.body] = alpha0
    elif body.alpha0 < alpha0:
        _advance(body, alpha0)
    contact.impact, contact.impact_known = ONE, 1
    if alpha0 != ZERO or not clearly_apart(piece, body):
        touches, beta = time_of_impact(scene.simplex, piece, body)
        if touches:
            contact.impact = lesser(alpha0 + (ONE - alpha0) * beta, ONE)
    return F32(contact.impact)


@compiled()
def clearly_apart(piece: Piece, body: Body) -> bool:
    """Return whether a face of the terrain separates a body from any impact through its whole sweep.

    This saves most searches. A corner leaves the straight line between its two ends by at most an eighth of
    its distance from the centre, times the square of the turn.
    """
    turn = body.angle - body.angle0
    least = _APART + body.reach * turn * turn * F32(0.125)
    if piece.size == 2:
        low, high = _reach_over_face(piece, 0, body)
        return bool(low > least or high < -least)
    for face in range(piece.size):
        low, _ = _reach_over_face(piece, face, body)
        if low > least:
            return True
    return False


@compiled()
def _reach_over_face(piece: Piece, face: int, body: Body) -> Pair:
    """Return the smallest and largest height of corners above a face, before and after the step."""
    n_x, n_y = piece.normals[face, 0], piece.normals[face, 1]
    face_x, face_y = piece.corners[face, 0], piece.corners[face, 1]
    low, high = LARGEST, -LARGEST
    for i in range(body.size):
        corner_x, corner_y = body.corners[i, 0], body.corners[i, 1]
        x, y = rotate(body.sine, body.cosine, corner_x, corner_y)
        after = n_x * (x + body.origin_x - face_x) + n_y * (y + body.origin_y - face_y)
        x, y = rotate(body.old_sine, body.old_cosine, corner_x, corner_y)
        before = n_x * (x + body.old_origin_x - face_x) + n_y * (y + body.old_origin_y - face_y)
        low, high = lesser(low, lesser(before, after)), greater(high, greater(before, after))
    return low, high


@compiled()
def _advance(body: Body, alpha: np.float32) -> None:
    """Begin a body's sweep later: b2Sweep::Advance."""
    beta = (alpha - body.alpha0) / (ONE - body.alpha0)
    body.x0 = (ONE - beta) * body.x0 + beta * body.x
    body.y0 = (ONE - beta) * body.y0 + beta * body.y
    body.angle0 = (ONE - beta) * body.angle0 + beta * body.angle
    body.alpha0 = alpha


@compiled()
def _move_to_impact(scene: Scene, contact: Contact, alpha: np.float32) -> bool:
    """Move a body to where it touches; if it does not touch there, move it back and ignore the contact."""
    body, ground = scene.bodies[contact.body], scene.pieces[contact.piece].body
    x0, y0, angle0, alpha0 = body.x0, body.y0, body.angle0, body.alpha0
    x, y, angle, ground_alpha0 = body.x, body.y, body.angle, scene.alpha0[ground]
    scene.alpha0[ground] = alpha
    _advance(body, alpha)
    body.x, body.y, body.angle = body.x0, body.y0, body.angle0
    find_transform(body)
    update(scene, contact)
    contact.impact_known = 0
    contact.impacts += 1
    if contact.touching:
        wake(body)
        return True
    contact.enabled = 0
    body.x0, body.y0, body.angle0, body.alpha0 = x0, y0, angle0, alpha0
    body.x, body.y, body.angle, scene.alpha0[ground] = x, y, angle, ground_alpha0
    find_transform(body)
    return False


@compiled()
def _bounce(scene: Scene, place: int, alpha: np.float32) -> None:
    """Solve a body's contacts at an impact and move it through the rest of the step."""
    index = scene.contacts[place].body
    body = scene.bodies[index]
    _collect_rows(scene, place, alpha)
    for _ in range(_POSITION_ITERATIONS):
        if correct_rows(scene, IMPACT_BAUMGARTE) >= _DEEPEST:
            break
    body.sine, body.cosine = sine_cosine(body.angle)
    keep_start(body)
    prepare_rows(scene)
    _iterate_velocities(scene, body)
    integrate(body, (ONE - alpha) * STEP)
    find_transform(body)
    move_box(body)
    for i in range(scene.contact_count):
        contact = scene.contacts[i]
        if contact.body == index:
            contact.impact_known = 0
    find_new_contacts(scene)


@compiled()
def _collect_rows(scene: Scene, place: int, alpha: np.float32) -> None:
    """List the contact of the impact, then the body's other touching contacts, newest first,
    without impulses.
    """
    scene.row_count = 0
    add_row(scene, place, ZERO)
    for i in range(scene.contact_count - 1, -1, -1):
        contact = scene.contacts[i]
        of_body = i != place and contact.body == scene.contacts[place].body
        if of_body and scene.row_count < _MOST_ROWS:
            update(scene, contact)
            if contact.touching:
                scene.alpha0[scene.pieces[contact.piece].body] = alpha
                add_row(scene, i, ZERO)


@compiled()
def _iterate_velocities(scene: Scene, body: Body) -> None:
    """Let the contacts push repeatedly, until nothing changes."""
    for _ in range(VELOCITY_ITERATIONS):
        x, y, spin = body.velocity_x, body.velocity_y, body.spin
        for i in range(scene.row_count):
            row = scene.rows[i]
            for j in range(2):
                row.old_normal[j], row.old_tangent[j] = row.normal_impulses[j], row.tangent_impulses[j]
        iterate_rows(scene)
        if x == body.velocity_x and y == body.velocity_y and spin == body.spin and not _changed(scene):
            return


@compiled()
def _changed(scene: Scene) -> bool:
    """Return whether the last iteration changed an impulse."""
    changed = False
    for i in range(scene.row_count):
        row = scene.rows[i]
        for j in range(2):
            changed |= row.old_normal[j] != row.normal_impulses[j]
            changed |= row.old_tangent[j] != row.tangent_impulses[j]
    return changed
