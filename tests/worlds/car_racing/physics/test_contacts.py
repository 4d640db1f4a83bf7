from typing import Any

import numpy as np
from Box2D import b2TestOverlap

from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.physics.bodies import FIXTURE_BODY, FIXTURES
from mpi_es.worlds.car_racing.physics.contacts import touches
from tests.worlds.car_racing.physics.lockstep import Race


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


def test_polygons_touch_where_box2d_says_that_they_overlap(env: Any) -> None:
    both, rng, found = Race(env, 14), np.random.default_rng(0), []
    parts = [body.fixtures[i] for body in (env.car.hull,) for i in range(4)]
    parts += [wheel.fixtures[0] for wheel in env.car.wheels]
    tile = 40
    theirs, middle = env.road[tile], np.mean(env.road[tile].fixtures[0].shape.vertices, axis=0)
    for case in range(400):
        fixture, angle = case % FIXTURES, np.float32(rng.uniform(-4, 4))
        part, index = parts[fixture], FIXTURE_BODY[fixture]
        part.body.transform = (tuple(middle + rng.uniform(-10, 10, 2)), float(angle))
        turn = part.body.transform.q
        row = both.ours.transforms[index]
        row[:] = *part.body.position, turn.s, turn.c
        ours = touches(both.ours, both.own, tile, fixture)
        shapes = theirs.fixtures[0].shape, 0, part.shape, 0
        assert ours == b2TestOverlap(*shapes, theirs.transform, part.body.transform)
        found.append(ours)
    assert 50 < sum(found) < 350
