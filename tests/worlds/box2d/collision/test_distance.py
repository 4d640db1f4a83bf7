import numpy as np
from Box2D import b2Distance, b2EdgeShape, b2PolygonShape, b2Transform

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d import bodies, records
from mpi_es.worlds.box2d.collision.distance import distance
from mpi_es.worlds.box2d.terrain import put_edge, put_polygon

F32 = np.float32


@compiled()
def distance_at(scene, piece, sine, cosine, x, y):
    scene.simplex.size = 0
    return distance(scene.simplex, scene.pieces[piece], scene.bodies[0], (sine, cosine, x, y))


def test_distances_are_box2d_s():
    rng, points = np.random.default_rng(0), [(-1.0, 0.5), (-1.0, -0.5), (1.2, -0.5), (1.0, 0.6)]
    scene = np.zeros(1, records.scene(bodies=1, joints=1, pieces=2, contacts=1))[0]
    scene["bodies"][0] = bodies.polygon(points)[0]
    edge, quad = [(-1.0, 0.2), (1.5, -0.3)], [(-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (1.0, 1.0)]
    put_edge(scene, 0, *edge[0], *edge[1], 0, 0.2)
    put_polygon(scene, 1, np.array(quad, F32), 0.2)
    shapes = b2EdgeShape(vertices=edge), b2PolygonShape(vertices=quad)
    body, here, there = b2PolygonShape(vertices=points), b2Transform(), b2Transform()
    here.SetIdentity()
    found = []
    for case in range(1000):
        there.Set(rng.uniform(-3, 3, 2).tolist(), float(rng.uniform(-4, 4)))
        result = b2Distance(
            shapeA=shapes[case % 2], shapeB=body, transformA=here, transformB=there, useRadii=False
        )
        turn, place = there.q, there.position
        found.append(distance_at(scene, case % 2, *map(F32, (turn.s, turn.c, place.x, place.y))))
        assert found[-1] == F32(result.distance)
    assert 100 < sum(value == 0 for value in found) < 900
