from typing import Any

import numpy as np

from mpi_es.worlds.car_racing.physics.joints import LIMIT_ANGLE, LOWER, NO_LIMIT, UPPER
from tests.worlds.car_racing.physics.lockstep import Race

PER_SECOND = 50.0


def test_impulses_are_the_forces_and_torques_that_box2d_tells(env: Any) -> None:
    both = Race(env, 9)
    for steer in (0.8, -0.8, 0.3):
        both.step(np.array([steer, 1.0, 0.0], np.float32))
        joints = [wheel.joint for wheel in env.car.wheels]
        forces = [tuple(joint.GetReactionForce(PER_SECOND)) for joint in joints]
        ours = np.stack([both.own.joints["impulse_x"], both.own.joints["impulse_y"]], axis=1)
        np.testing.assert_array_equal(ours * np.float32(PER_SECOND), np.array(forces, np.float32))
        torques = [joint.GetMotorTorque(PER_SECOND) for joint in joints]
        np.testing.assert_array_equal(
            both.own.joints["motor_impulse"] * np.float32(PER_SECOND), np.array(torques, np.float32)
        )


def test_a_front_wheel_stops_at_its_limit_on_either_side(env: Any) -> None:
    for steer, limit in ((-1.0, UPPER), (1.0, LOWER)):  # to the left the joint's angle grows
        both = Race(env, 9)
        for _ in range(20):
            both.step(np.array([steer, 0.0, 0.0], np.float32))
        np.testing.assert_array_equal(both.own.joints["limit"], [limit, limit, NO_LIMIT, NO_LIMIT])
        angle = env.car.wheels[0].joint.angle
        assert both.ours.angles[1] - both.ours.angles[0] == np.float32(angle)
        assert abs(abs(angle) - LIMIT_ANGLE) < 0.035  # Box2D's slop of two degrees
