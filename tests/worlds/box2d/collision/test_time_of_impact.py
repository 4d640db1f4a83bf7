import numpy as np
import pytest
from Box2D import b2EdgeShape, b2PolygonShape, b2Sweep, b2TimeOfImpact, b2TOIOutput

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d import bodies, records
from mpi_es.worlds.box2d.collision.time_of_impact import time_of_impact
from mpi_es.worlds.box2d.solver import impacts, island
from mpi_es.worlds.box2d.terrain import put_edge, put_polygon

F32 = np.float32
EDGE, QUAD = [(-1.0, 0.2), (1.5, -0.3)], [(-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (1.0, 1.0)]
CORNERS = [(-0.5, 0.2), (-0.4, -0.2), (0.6, -0.3), (0.5, 0.3)]


@compiled()
def impact(scene, piece, sweep):
    """Move the body and return whether it is clearly apart, whether it touches, and when."""
    body = scene.bodies[0]
    body.x, body.y, body.angle = sweep[0], sweep[1], sweep[2]
    island.find_transform(body)
    island.keep_start(body)
    body.x, body.y, body.angle = sweep[3], sweep[4], sweep[5]
    island.find_transform(body)
    touches, time = time_of_impact(scene.simplex, scene.pieces[piece], body)
    return impacts.clearly_apart(scene.pieces[piece], body), touches, time


@pytest.fixture(scope="module")
def found():
    """Our impacts and Box2D's, of a body that moves by random ways and turns."""
    rng = np.random.default_rng(0)
    scene = np.zeros(1, records.scene(bodies=1, joints=1, pieces=2, contacts=1))[0]
    body = bodies.placed(bodies.polygon(CORNERS), density=1.0, friction=0.1, position=(0, 0))[0]
    scene["bodies"][0] = body
    put_edge(scene, 0, *EDGE[0], *EDGE[1], 0, 0.2)
    put_polygon(scene, 1, np.array(QUAD, F32), 0.2)
    shapes = b2EdgeShape(vertices=EDGE), b2PolygonShape(vertices=QUAD)
    still, moving = (
        b2Sweep(localCenter=(0, 0), c0=(0, 0), c=(0, 0), a0=0.0, a=0.0, alpha0=0.0) for _ in range(2)
    )
    moving.localCenter = float(body["local_x"]), float(body["local_y"])
    pairs = []
    for case in range(3000):
        start, way = rng.uniform(-3, 3, 2), rng.uniform(-1, 1, 2) * rng.choice([0.1, 1.0, 4.0])
        sweep = np.array([*start, rng.uniform(-9, 9), *(start + way), 0], F32)
        sweep[5] = sweep[2] + F32(rng.uniform(-1, 1))
        moving.c0, moving.a0 = sweep[:2].tolist(), float(sweep[2])
        moving.c, moving.a = sweep[3:5].tolist(), float(sweep[5])
        state, time = b2TimeOfImpact(
            shapeA=shapes[case % 2],
            shapeB=b2PolygonShape(vertices=CORNERS),
            sweepA=still,
            sweepB=moving,
            tMax=1.0,
        )
        pairs.append((*impact(scene, case % 2, sweep), state == b2TOIOutput.e_touching, F32(time)))
    return pairs


def test_impacts_are_box2d_s(found):
    for _, touches, time, expected, expected_time in found:
        assert touches == expected
        if touches:
            assert time == expected_time
    assert 200 < sum(touches for _, touches, _, _, _ in found) < 2800


def test_what_isclearly_apart_touches_in_no_sweep(found):
    apart = [pair for pair in found if pair[0]]
    assert len(apart) > 300
    assert not any(touches for _, _, _, touches, _ in apart)
