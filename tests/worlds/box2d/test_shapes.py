import numpy as np
import pytest
from Box2D import b2FixtureDef, b2PolygonShape, b2World

from mpi_es.worlds.box2d import bodies, shapes


@pytest.fixture
def polygons():
    """Points of polygons, in any order and some within the others."""
    rng = np.random.default_rng(0)
    return [rng.uniform(-2, 2, (rng.integers(4, 7), 2)).tolist() for _ in range(100)]


def placed(world, points):
    """Return Box2D's body and ours."""
    shape = b2PolygonShape(vertices=points)
    theirs = world.CreateDynamicBody(fixtures=b2FixtureDef(shape=shape, density=3.0))
    return theirs, bodies.placed(bodies.polygon(points), density=3.0, friction=0.1, position=(0, 0))[0]


def test_corners_and_normals_are_box2d_s(polygons):
    world = b2World()
    for points in polygons:
        theirs, ours = placed(world, points)
        shape, size = theirs.fixtures[0].shape, ours["size"]
        np.testing.assert_array_equal(ours["corners"][:size], np.float32(shape.vertices))
        np.testing.assert_array_equal(ours["normals"][:size], np.float32(shape.normals))
        assert (ours["centroid_x"], ours["centroid_y"]) == tuple(np.float32(shape.centroid))


def test_masses_are_box2d_s(polygons):
    world = b2World()
    for points in polygons:
        theirs, ours = placed(world, points)
        assert ours["inverse_mass"] == np.float32(1) / np.float32(theirs.mass)
        assert (ours["local_x"], ours["local_y"]) == tuple(np.float32(theirs.localCenter))
        moment = theirs.inertia - theirs.mass * theirs.localCenter.lengthSquared
        assert ours["inverse_moment"] == pytest.approx(1 / moment, rel=1e-5)


def test_a_box_begins_at_the_lower_left():
    theirs = b2PolygonShape(box=(0.3, 0.2))
    ours = bodies.box(0.3, 0.2)[0]
    np.testing.assert_array_equal(ours["corners"][:4], np.float32(theirs.vertices))
    np.testing.assert_array_equal(ours["normals"][:4], np.float32(theirs.normals))


def test_compiled_code_wraps_as_python_does(polygons):
    for points in polygons:
        found = [np.zeros((6, 2), np.float32) for _ in range(2)]
        sizes = [
            wrap(np.array(points, np.float32), hull)
            for wrap, hull in zip((shapes.wrap, shapes.compiled_wrap), found, strict=True)
        ]
        assert sizes[0] == sizes[1]
        np.testing.assert_array_equal(*found)
