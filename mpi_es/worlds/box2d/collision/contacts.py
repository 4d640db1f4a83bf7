"""Contacts from step to step: b2ContactManager::Collide, b2Contact::Update, and gymnasium's listeners."""

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.boxes import box_of, overlap
from mpi_es.worlds.box2d.collision.edge import collide_edge
from mpi_es.worlds.box2d.collision.polygons import collide_polygons
from mpi_es.worlds.box2d.records import Contact, Scene
from mpi_es.worlds.box2d.settings import ZERO
from mpi_es.worlds.box2d.solver.sleep import wake


@compiled()
def collide(scene: Scene) -> None:
    """Update the contacts of awake bodies, the newest first; drop those whose boxes no longer overlap."""
    for i in range(scene.contact_count - 1, -1, -1):
        contact = scene.contacts[i]
        body = scene.bodies[contact.body]
        if body.awake == 0:
            continue
        if overlap(scene, contact.piece, box_of(body)):
            update(scene, contact)
        else:
            _drop(scene, i)


@compiled()
def _drop(scene: Scene, place: int) -> None:
    """Remove a contact: b2Contact::Destroy."""
    contact = scene.contacts[place]
    body = scene.bodies[contact.body]
    if contact.touching:
        body.on_ground = 0
    if contact.count > 0:
        wake(body)
    scene.contact_count -= 1
    for i in range(place, scene.contact_count):
        scene.contacts[i] = scene.contacts[i + 1]


@compiled()
def update(scene: Scene, contact: Contact) -> None:
    """Find the manifold again; points that existed before keep their impulses."""
    count, key0, key1 = contact.count, contact.keys[0], contact.keys[1]
    normal0, normal1 = contact.normal_impulses[0], contact.normal_impulses[1]
    tangent0, tangent1 = contact.tangent_impulses[0], contact.tangent_impulses[1]
    contact.enabled = 1
    piece, body = scene.pieces[contact.piece], scene.bodies[contact.body]
    if piece.size == 2:
        collide_edge(contact, piece, body)
    else:
        collide_polygons(contact, piece, body)
    for i in range(contact.count):
        key = contact.keys[i]
        if count > 0 and key0 == key:
            contact.normal_impulses[i], contact.tangent_impulses[i] = normal0, tangent0
        elif count > 1 and key1 == key:
            contact.normal_impulses[i], contact.tangent_impulses[i] = normal1, tangent1
        else:
            contact.normal_impulses[i], contact.tangent_impulses[i] = ZERO, ZERO
    _tell_listeners(scene, contact)


@compiled()
def _tell_listeners(scene: Scene, contact: Contact) -> None:
    """Note that a contact begins or stops touching, as gymnasium's ContactDetector does."""
    touching = 1 if contact.count > 0 else 0
    if touching == contact.touching:
        return
    contact.touching = touching
    body = scene.bodies[contact.body]
    wake(body)
    # gymnasium takes a body off the ground as soon as any of its contacts ends.
    body.on_ground = touching
    body.touched |= touching
