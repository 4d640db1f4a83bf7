from typing import Any

import numpy as np

from mpi_es.envs.car_racing import state
from tests.envs.car_racing.physics.lockstep import Race


def put(both: Race, x: float, y: float, angle: float) -> None:
    """Put both cars somewhere, at rest; the wheels follow by their joints."""
    for body in (both.env.car.hull, *both.env.car.wheels):
        body.position, body.angle = (x, y), angle
        body.linearVelocity, body.angularVelocity = (0, 0), 0
    both.ours.transforms[:] = x, y, np.sin(np.float32(angle)), np.cos(np.float32(angle))
    both.ours.angles[:] = angle
    both.ours.velocities[:] = 0
    both.own.centres[:] = [tuple(body.worldCenter) for body in (both.env.car.hull, *both.env.car.wheels)]


def test_wheels_touch_what_box2d_s_touch_across_the_edge_of_the_road(env: Any) -> None:
    both, found = Race(env, 13), set()
    _, beta, x, y = env.track[50]
    for across in np.linspace(5.0, 9.5, 25):  # the road reaches 6.67 m from its middle
        put(both, x + across * np.cos(beta), y + across * np.sin(beta), beta + 0.3)
        for _ in range(2):  # in the first the wheels come to their places
            both.step(np.zeros(3, np.float32))
        touching = [len(wheel.tiles) > 0 for wheel in env.car.wheels]
        np.testing.assert_array_equal(both.own.on_road, touching)
        found.add(sum(touching))
    assert {0, 4} < found


def test_each_tile_is_rewarded_once_and_coloured_when_anything_touches_it(env: Any) -> None:
    both = Race(env, 13)
    for place in (20, 21, 30, 20):
        put(both, *env.track[place][2:], env.track[place][1])
        both.step(np.zeros(3, np.float32))
        visited = [tile.road_visited for tile in env.road]
        np.testing.assert_array_equal(both.ours.visited[: len(visited)], visited)
        assert both.ours.counts[state.VISITED_COUNT] == sum(visited)
        assert both.ours.clock[state.REWARD] == env.reward
    both.assert_same()
