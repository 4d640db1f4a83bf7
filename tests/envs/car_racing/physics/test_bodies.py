"""The outlines of the car, against the fixtures that Box2D made of gymnasium's."""

import numpy as np
from numpy.testing import assert_array_equal

from mpi_es.envs.car_racing.physics.bodies import HULL, WHEEL
from tests.envs.car_racing.reference import reference


def _fixtures(body):
    return [np.array(fixture.shape.vertices, np.float32) for fixture in body.fixtures]


def test_outlines_have_box2d_s_corners_in_its_order():
    env = reference()
    env.reset(seed=0)
    hull = _fixtures(env.car.hull)
    assert len(hull) == len(HULL)
    for ours, theirs in zip(HULL, hull, strict=True):
        assert_array_equal(ours, theirs)
    for wheel in env.car.wheels:
        assert_array_equal([WHEEL], _fixtures(wheel))
