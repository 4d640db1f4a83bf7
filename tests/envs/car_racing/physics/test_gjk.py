from typing import Any

import numpy as np
from Box2D import b2TestOverlap

from mpi_es.envs.car_racing.physics.bodies import FIXTURE_BODY, FIXTURE_SIZE, FIXTURE_VERTICES, FIXTURES
from mpi_es.envs.car_racing.physics.gjk import touches
from tests.envs.car_racing.physics.lockstep import Race


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
        local = FIXTURE_VERTICES[fixture, : FIXTURE_SIZE[fixture]]
        corners = both.own.corners[fixture, : len(local)]
        corners[:, 0] = (row[3] * local[:, 0] - row[2] * local[:, 1]) + row[0]
        corners[:, 1] = (row[2] * local[:, 0] + row[3] * local[:, 1]) + row[1]
        o = both.own
        ours = touches(
            both.ours.transforms, o.corners, o.vertices, o.sizes, o.simplex, o.supports, tile, fixture
        )
        shapes = theirs.fixtures[0].shape, 0, part.shape, 0
        assert ours == b2TestOverlap(*shapes, theirs.transform, part.body.transform)
        found.append(ours)
    assert 50 < sum(found) < 350
