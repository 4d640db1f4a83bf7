"""Which bodies may touch which pieces of terrain: Box2D's broad phase, by boxes with a margin.

Box2D keeps the boxes in a tree, but sorts its results; so here all pieces are tested, in order.
"""

import math

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.records import Body, Scene
from mpi_es.worlds.box2d.settings import BOX_AHEAD, BOX_MARGIN, F32, LARGEST, RADIUS, ZERO
from mpi_es.worlds.box2d.solver.sleep import wake
from mpi_es.worlds.box2d.vectors import greater, lesser, rotate

Box = tuple[np.float32, np.float32, np.float32, np.float32]  # lower x, lower y, upper x, upper y


@compiled()
def overlap(scene: Scene, piece: int, box: Box) -> bool:
    """Return whether a box meets that of a piece: b2TestOverlap."""
    boxes = scene.boxes
    lower_x, lower_y, upper_x, upper_y = box
    apart = boxes[0, piece] - upper_x > ZERO or boxes[1, piece] - upper_y > ZERO
    return not (apart or lower_x - boxes[2, piece] > ZERO or lower_y - boxes[3, piece] > ZERO)


@compiled()
def box_of(body: Body) -> Box:
    """Return a body's box."""
    return body.lower_x, body.lower_y, body.upper_x, body.upper_y


@compiled()
def move_box(body: Body) -> None:
    """Replace a body's box if the body left it: b2Fixture::Synchronize and b2DynamicTree::MoveProxy."""
    lower_x, lower_y, upper_x, upper_y = _tight_box(body)
    inside = body.lower_x <= lower_x and body.lower_y <= lower_y
    if inside and upper_x <= body.upper_x and upper_y <= body.upper_y:
        return
    way_x = BOX_AHEAD * (body.origin_x - body.old_origin_x)
    way_y = BOX_AHEAD * (body.origin_y - body.old_origin_y)
    lower_x, lower_y = lower_x - BOX_MARGIN, lower_y - BOX_MARGIN
    upper_x, upper_y = upper_x + BOX_MARGIN, upper_y + BOX_MARGIN
    body.lower_x = lower_x + way_x if way_x < ZERO else lower_x
    body.upper_x = upper_x if way_x < ZERO else upper_x + way_x
    body.lower_y = lower_y + way_y if way_y < ZERO else lower_y
    body.upper_y = upper_y if way_y < ZERO else upper_y + way_y
    body.moved = 1


@compiled()
def _tight_box(body: Body) -> Box:
    """Return the box around a body's positions before the step and now."""
    lower_x, lower_y, upper_x, upper_y = LARGEST, LARGEST, -LARGEST, -LARGEST
    for i in range(body.size):
        corner_x, corner_y = body.corners[i, 0], body.corners[i, 1]
        x, y = rotate(body.old_sine, body.old_cosine, corner_x, corner_y)
        x, y = x + body.old_origin_x, y + body.old_origin_y
        lower_x, lower_y, upper_x, upper_y = _around(lower_x, lower_y, upper_x, upper_y, x, y)
        x, y = rotate(body.sine, body.cosine, corner_x, corner_y)
        x, y = x + body.origin_x, y + body.origin_y
        lower_x, lower_y, upper_x, upper_y = _around(lower_x, lower_y, upper_x, upper_y, x, y)
    return lower_x - RADIUS, lower_y - RADIUS, upper_x + RADIUS, upper_y + RADIUS


@compiled()
def _around(
    lower_x: np.float32,
    lower_y: np.float32,
    upper_x: np.float32,
    upper_y: np.float32,
    x: np.float32,
    y: np.float32,
) -> Box:
    return lesser(lower_x, x), lesser(lower_y, y), greater(upper_x, x), greater(upper_y, y)


@compiled()
def find_new_contacts(scene: Scene) -> None:
    """Add the contacts of bodies whose boxes moved, by piece and then by body: b2BroadPhase::UpdatePairs."""
    lower_x, lower_y, upper_x, upper_y, moved = LARGEST, LARGEST, -LARGEST, -LARGEST, False
    for i in range(len(scene.bodies)):
        body = scene.bodies[i]
        if body.moved:
            moved = True
            lower_x, lower_y = lesser(lower_x, body.lower_x), lesser(lower_y, body.lower_y)
            upper_x, upper_y = greater(upper_x, body.upper_x), greater(upper_y, body.upper_y)
    if not moved:
        return
    for piece in range(scene.piece_count):
        if overlap(scene, piece, (lower_x, lower_y, upper_x, upper_y)):
            _find_bodies(scene, piece)
    for i in range(len(scene.bodies)):
        scene.bodies[i].moved = 0


@compiled()
def _find_bodies(scene: Scene, piece: int) -> None:
    """Add the contacts of one piece."""
    for i in range(len(scene.bodies)):
        body = scene.bodies[i]
        if body.moved and overlap(scene, piece, box_of(body)) and not _is_known(scene, piece, i):
            _add_contact(scene, piece, i)


@compiled()
def _is_known(scene: Scene, piece: int, body: int) -> bool:
    """Return whether the two have a contact."""
    for i in range(scene.contact_count):
        contact = scene.contacts[i]
        if contact.piece == piece and contact.body == body:
            return True
    return False


@compiled()
def _add_contact(scene: Scene, piece: int, body: int) -> None:
    """Add a contact that does not touch yet."""
    # None of our scenes comes near it; one that did would overwrite memory.
    if scene.contact_count == len(scene.contacts):
        raise MemoryError("contacts of a scene: expected as many as its array holds, got one more")
    contact = scene.contacts[scene.contact_count]
    scene.contact_count += 1
    contact.piece, contact.body = piece, body
    contact.touching, contact.enabled, contact.count = 0, 1, 0
    contact.impact_known, contact.impacts = 0, 0
    contact.friction = F32(math.sqrt(scene.pieces[piece].friction * scene.bodies[body].friction))
    wake(scene.bodies[body])
