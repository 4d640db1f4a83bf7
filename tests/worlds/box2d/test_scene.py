"""All of a scene beside Box2D's world, step by step."""

import gymnasium as gym
import numpy as np
import pytest

from mpi_es.envs.fresh_world import FreshWorld
from tests.worlds.car_racing.versions import check_versions

F32 = np.float32


def of_body(body):
    """Return what Box2D tells of a body."""
    (x, y), (v_x, v_y) = body.worldCenter, body.linearVelocity
    numbers = (x, y, body.angle, *body.position, v_x, v_y, body.angularVelocity)
    return [F32(number) for number in numbers], body.awake


def of_our_body(body):
    names = ("x", "y", "angle", "origin_x", "origin_y", "velocity_x", "velocity_y", "spin")
    return [body[name] for name in names], bool(body["awake"])


def of_contact(contact, bodies):
    """Return what Box2D tells of a contact: the place of its body, whether it touches, and its manifold."""
    manifold = contact.manifold
    points = [
        (*map(F32, point.localPoint), F32(point.normalImpulse), F32(point.tangentImpulse), point.id.key)
        for point in manifold.points[: manifold.pointCount]
    ]
    return bodies.index(contact.fixtureB.body), contact.touching, points


def of_our_contact(contact):
    points = [
        (
            *contact["points"][i],
            contact["normal_impulses"][i],
            contact["tangent_impulses"][i],
            contact["keys"][i],
        )
        for i in range(contact["count"])
    ]
    return contact["body"], bool(contact["touching"]), points


@pytest.mark.parametrize(
    ("name", "options", "action"),
    [
        ("LunarLander-v3", {}, lambda rng: int(rng.integers(4))),
        ("BipedalWalker-v3", {"hardcore": True}, lambda rng: rng.uniform(-1, 1, 4).astype(F32)),
    ],
)
def test_bodies_and_contacts_are_box2d_s(name, options, action):
    check_versions()
    ours = gym.make(f"mpi_es/{name}", **options).unwrapped
    theirs = FreshWorld(gym.make(name, **options)) if options else gym.make(name)
    rng, touched = np.random.default_rng(0), 0
    for seed in range(20):
        ours.reset(seed=seed)
        theirs.reset(seed=seed)
        env, scene, ended = theirs.unwrapped, ours.state["scene"], False
        bodies = [env.hull if options else env.lander, *env.legs]
        while not ended:
            move = action(rng)
            _, _, _, _, _ = ours.step(move)
            _, _, terminated, truncated, _ = theirs.step(move)
            ended = terminated or truncated
            assert [of_our_body(body) for body in scene["bodies"]] == [of_body(body) for body in bodies]
            contacts = [of_contact(contact, bodies) for contact in env.world.contacts]
            count = scene["contact_count"]
            assert [of_our_contact(contact) for contact in scene["contacts"][:count]] == contacts
            touched += sum(touches for _, touches, _ in contacts)
    assert touched > 50
