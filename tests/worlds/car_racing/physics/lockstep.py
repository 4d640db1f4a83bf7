"""Our race and gymnasium's, driven in lockstep."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.worlds import numpy_random
from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.physics import arrays, race
from tests.worlds.car_racing.reference import copy_state

FIELDS = set(state.World._fields)


def without_picture(env: Any) -> Any:
    """Draw nothing, which is quick, but note the reward that the picture would show."""
    env._render = lambda mode: setattr(env, "shown", env.reward)
    return env


class Race:
    """Our race and gymnasium's, driven in lockstep."""

    def __init__(self, env: Any, seed: int) -> None:
        self.env, self.expected = env, state.allocate()
        self.ours, self.own, self.draws = state.allocate(), arrays.allocate(), numpy_random.allocate()
        env.reset(seed=seed)
        numpy_random.seed_generator(self.draws, seed)
        race.reset(self.ours, self.own, self.draws)

    def step(self, action: NDArray[np.float32]) -> bool:
        _, expected, expected_end, _, _ = self.env.step(action)
        reward, end = race.step(self.ours, self.own, *action.astype(np.float64))
        assert reward == expected
        assert end == expected_end
        self.last_reward = reward
        return end

    def assert_same(self) -> None:
        copy_state(self.env, self.expected, shown_reward=self.env.shown)
        for name in sorted(FIELDS):
            ours, expected = getattr(self.ours, name), getattr(self.expected, name)
            used = {"visited": self.ours.tile_count, "tile": self.ours.polygon_count}
            used["colours"] = used["polygons"] = self.ours.polygon_count
            size = used.get(name, len(ours))
            np.testing.assert_array_equal(ours[:size], expected[:size], err_msg=name)
        on_road = [len(wheel.tiles) > 0 for wheel in self.env.car.wheels]
        np.testing.assert_array_equal(self.own.on_road, on_road)


def shove(both: Race, velocity: tuple[float, float], spin: float = 0.0) -> None:
    """Give all bodies of both cars a velocity."""
    for body in (both.env.car.hull, *both.env.car.wheels):
        body.linearVelocity, body.angularVelocity = velocity, spin
    both.ours.velocities[:] = *velocity, spin
