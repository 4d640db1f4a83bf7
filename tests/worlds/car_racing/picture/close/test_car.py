import numpy as np
import pytest

from tests.worlds.car_racing.picture.close.pictures import bare, drawn, put

CAR = slice(66, 78), slice(45, 51)


def seen(env):
    """Return the part of the two pictures in which the car is."""
    return (picture[CAR].astype(int) for picture in (drawn(env, env.reward), env._render("state_pixels")))


@pytest.mark.parametrize("phase", np.linspace(-4.0, 4.0, 9))
def test_the_car_with_its_stripes_is_gymnasium_s_within_rounding(phase):
    env = bare()
    put(env, (5.0, 5.0), 0.3)
    for wheel, more in zip(env.car.wheels, (0.0, 0.3, 0.9, 2.0), strict=True):
        wheel.position += (0.4, -0.7)  # out from below the hull
        wheel.phase = phase + more
    ours, theirs = seen(env)
    assert np.abs(ours - theirs).max() <= 2


def test_from_high_above_the_car_is_a_few_pixels_as_gymnasium_s():
    env = bare()
    for time in (0.02, 0.3, 0.7):
        env.t = time
        ours, theirs = seen(env)
        assert np.abs(ours - theirs).max() <= 6
