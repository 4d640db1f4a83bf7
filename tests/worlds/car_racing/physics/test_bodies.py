"""The car's polygons and masses, against those that Box2D made of gymnasium's."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mpi_es.worlds.car_racing.physics import bodies


def _fixtures(body: Any) -> list[Any]:
    return [np.array(fixture.shape.vertices, np.float32) for fixture in body.fixtures]


def test_outlines_have_box2d_s_corners_in_its_order(env: Any) -> None:
    env.reset(seed=0)
    for ours, theirs in zip(bodies.HULL, _fixtures(env.car.hull), strict=True):
        assert_array_equal(ours, theirs)
    for wheel in env.car.wheels:
        assert_array_equal([bodies.WHEEL], _fixtures(wheel))


def test_masses_and_centres_are_box2d_s_to_the_bit(env: Any) -> None:
    env.reset(seed=0)
    hull, wheel = env.car.hull, env.car.wheels[0]
    assert np.float32(1) / np.float32(hull.mass) == bodies.HULL_INVERSE_MASS
    assert np.float32(1) / np.float32(wheel.mass) == bodies.WHEEL_INVERSE_MASS
    assert_array_equal(bodies.HULL_CENTRE, np.array(hull.localCenter, np.float32))
    about_centre = hull.inertia - hull.mass * np.dot(hull.localCenter, hull.localCenter)
    assert pytest.approx(1 / about_centre, rel=1e-6) == bodies.HULL_INVERSE_MOMENT


@pytest.mark.parametrize("phase", np.linspace(-4, 4, 17))
def test_a_stripe_is_seen_where_gymnasium_draws_it(phase: float) -> None:
    seen, begin, end = bodies.stripe_ends(phase)
    first, last = phase, phase + 1.2  # gymnasium's Car.draw
    assert seen == (not (math.sin(first) > 0 and math.sin(last) > 0))
    assert begin == (np.sign(math.cos(first)) if math.sin(first) > 0 else math.cos(first))
    assert end == (np.sign(math.cos(last)) if math.sin(last) > 0 else math.cos(last))
