from typing import Any

import numpy as np
import pytest

from mpi_es.worlds.car_racing.physics import arrays
from mpi_es.worlds.car_racing.physics.joints import ARMS, UPPER
from mpi_es.worlds.car_racing.physics.positions import (
    LINEAR_SLOP,
    MAX_ANGULAR_CORRECTION,
    POSITION_ITERATIONS,
    solve_positions,
)
from tests.worlds.car_racing.physics.lockstep import Race


def gaps(env: Any) -> list[float]:
    """Return how far the two ends of each joint are apart."""
    return [(wheel.joint.anchorA - wheel.joint.anchorB).length for wheel in env.car.wheels]


def test_wheels_torn_off_come_back_as_box2d_s(env: Any) -> None:
    both = Race(env, 11)
    for body, away in zip(range(1, 5), [(0.5, 0.2), (-1.0, 0.0), (0.0, 2.0), (0.3, -0.3)], strict=True):
        wheel = env.car.wheels[body - 1]
        wheel.position = wheel.position + away
        both.own.centres[body] = both.ours.transforms[body, :2] = wheel.position
    assert min(gaps(env)) > 0.3
    both.step(np.zeros(3, np.float32))
    both.assert_same()
    for _ in range(5):
        both.step(np.zeros(3, np.float32))
    both.assert_same()
    assert max(gaps(env)) <= 1.01 * LINEAR_SLOP


def test_after_each_step_of_a_wild_drive_the_wheels_are_at_their_places(env: Any) -> None:
    both = Race(env, 12)
    for step in range(60):
        both.step(np.array([(-1.0) ** (step // 10), 1.0, 0.0], np.float32))
        both.assert_same()
        assert max(gaps(env)) <= 1.01 * LINEAR_SLOP


@pytest.mark.parametrize(("share", "holds"), [(0.5, True), (2.0, False)])
def test_joints_hold_where_the_iterations_suffice_to_turn_a_wheel_back(share: float, holds: bool) -> None:
    joints, angles = arrays.allocate().joints, np.zeros(5, np.float32)
    centres = np.concatenate([np.zeros((1, 2), np.float32), ARMS])
    joints["limit"][0] = UPPER
    angles[1] = share * POSITION_ITERATIONS * MAX_ANGULAR_CORRECTION
    assert solve_positions(angles, centres, joints) is holds
