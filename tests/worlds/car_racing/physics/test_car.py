from typing import Any

import numpy as np

from mpi_es.worlds.car_racing.physics.arrays import BRAKE, GAS, STEER
from tests.worlds.car_racing.physics.lockstep import Race, shove


def test_what_the_driver_wants_reaches_the_wheels_as_in_gymnasium(env: Any) -> None:
    both = Race(env, 2)
    for steer, gas, brake in [(0.5, 0.04, 0.0), (-1.0, 0.9, 0.3), (0.2, 1.0, 0.0), (0.0, 0.0, 1.0)]:
        both.step(np.array([steer, gas, brake], np.float32))
        wanted = [(wheel.steer, wheel.gas, wheel.brake) for wheel in env.car.wheels]
        np.testing.assert_array_equal(both.own.controls[:, [STEER, GAS, BRAKE]], wanted)
        speeds = [wheel.joint.motorSpeed for wheel in env.car.wheels]
        np.testing.assert_array_equal(both.own.joints["motor_speed"], np.array(speeds, np.float32))


def test_wheels_spin_up_brake_and_slip_as_gymnasium_s(env: Any) -> None:
    both = Race(env, 2)
    for gas, brake in [(1.0, 0.0)] * 20 + [(0.0, 0.5)] * 20 + [(0.0, 1.0)] * 3:
        both.step(np.array([0.0, gas, brake], np.float32))
        np.testing.assert_array_equal(both.ours.omega, [wheel.omega for wheel in env.car.wheels])
        np.testing.assert_array_equal(both.ours.phase, [wheel.phase for wheel in env.car.wheels])
    assert not both.own.controls[2:, GAS].any()


def test_grass_gives_a_tyre_six_tenths_of_the_road_s_grip(env: Any) -> None:
    both = Race(env, 2)
    for wheel in env.car.wheels[1::2]:
        wheel.tiles.clear()
    both.own.on_road[:] = [1, 0, 1, 0]
    shove(both, (50.0, -50.0))  # far too fast to hold
    both.step(np.zeros(3, np.float32))
    bodies = [tuple(body.linearVelocity) for body in (env.car.hull, *env.car.wheels)]
    np.testing.assert_array_equal(both.ours.velocities[:, :2], np.array(bodies, np.float32))
    np.testing.assert_allclose(np.hypot(*both.own.forces.T), [400, 240, 400, 240], rtol=1e-6)
