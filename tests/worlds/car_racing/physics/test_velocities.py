from typing import Any

import numpy as np
import pytest

from tests.worlds.car_racing.physics.lockstep import Race, shove


@pytest.mark.parametrize(
    ("velocity", "spin"), [((30.0, -20.0), 2.0), ((0.0, 5.0), -30.0), ((-80.0, 0.0), 0.0)]
)
def test_a_shoved_car_moves_on_as_box2d_s(env: Any, velocity: tuple[float, float], spin: float) -> None:
    both = Race(env, 10)
    shove(both, velocity, spin)
    for _ in range(10):
        both.step(np.array([0.4, 0.0, 0.0], np.float32))
        both.assert_same()


def test_joints_pull_bodies_together_that_fly_apart_as_box2d_s(env: Any) -> None:
    both, rng = Race(env, 10), np.random.default_rng(0)
    bodies = (env.car.hull, *env.car.wheels)
    apart = rng.normal(0, 20, (5, 2)).astype(np.float32)
    for body, velocity in zip(bodies, apart.tolist(), strict=True):
        body.linearVelocity = velocity
    both.ours.velocities[:, :2] = apart
    both.step(np.zeros(3, np.float32))
    both.assert_same()
    x, y, spin = both.ours.velocities[0].astype(float)
    arms = np.array([wheel.joint.anchorA - env.car.hull.worldCenter for wheel in env.car.wheels])
    held = np.stack([x - spin * arms[:, 1], y + spin * arms[:, 0]], axis=1)
    np.testing.assert_allclose(both.ours.velocities[1:, :2], held, atol=0.5)
    assert np.abs(apart[1:] - apart[0]).max() > 20
