from typing import Any

import numpy as np

from mpi_es.worlds.box2d.settings import MAX_ROTATION, MAX_TRANSLATION, STEP
from tests.worlds.car_racing.physics.lockstep import Race, shove


def test_a_speed_beyond_box2d_s_limits_is_cut_as_box2d_cuts_it(env: Any) -> None:
    both = Race(env, 8)
    shove(both, (300.0, -400.0), 100.0)
    both.step(np.zeros(3, np.float32))
    both.assert_same()
    speeds = np.linalg.norm(both.ours.velocities[:, :2], axis=1)
    assert 0.9 * MAX_TRANSLATION < speeds.max() * STEP < 1.1 * MAX_TRANSLATION
    assert abs(both.ours.velocities[:, 2]).max() * STEP < 1.1 * MAX_ROTATION


def test_a_car_that_brakes_sleeps_and_wakes_as_gymnasiums(env: Any) -> None:
    both, slept = Race(env, 4), False
    for gas, brake in [(0.3, 0.0)] * 20 + [(0.0, 1.0)] * 120 + [(0.5, 0.0)] * 30:
        both.step(np.array([0.0, gas, brake], np.float32))
        both.assert_same()
        slept |= not both.ours.velocities.any()
        assert slept or env.car.hull.awake
    assert slept
    assert both.ours.velocities.any()
