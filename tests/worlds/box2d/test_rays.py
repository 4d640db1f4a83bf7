import numpy as np
from Box2D import b2EdgeShape, b2PolygonShape, b2RayCastCallback, b2World

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d import records
from mpi_es.worlds.box2d.rays import Ray, cast
from mpi_es.worlds.box2d.settings import ONE
from mpi_es.worlds.box2d.terrain import put_edge, put_polygon


class _Nearest(b2RayCastCallback):
    fraction = 1.0

    def ReportFixture(self, fixture, point, normal, fraction):  # noqa: N802
        self.fraction = fraction
        return fraction


@compiled()
def fraction(scene, x1, y1, x2, y2):
    return cast(scene, Ray(x1, y1, x2, y2), 0, scene.piece_count, ONE)


def test_a_ray_ends_where_box2d_s_does():
    rng, world = np.random.default_rng(0), b2World()
    scene = np.zeros(1, records.scene(bodies=1, joints=1, pieces=40, contacts=1))[0]
    for i in range(40):
        if i % 2:
            x, y, width, height = rng.uniform(-4, 4, 2).tolist() + rng.uniform(0.1, 1, 2).tolist()
            points = [(x, y), (x + width, y), (x + width, y - height), (x, y - height)]
            world.CreateStaticBody(shapes=b2PolygonShape(vertices=points))
            put_polygon(scene, i, np.array(points, np.float32), 0.2)
        else:
            ends = rng.uniform(-4, 4, (2, 2)).tolist()
            world.CreateStaticBody(shapes=b2EdgeShape(vertices=ends))
            put_edge(scene, i, *ends[0], *ends[1], i, 0.2)
    scene["piece_count"] = 40
    found = []
    for ends in rng.uniform(-5, 5, (1000, 4)).astype(np.float32):
        nearest = _Nearest()
        world.RayCast(nearest, ends[:2].tolist(), ends[2:].tolist())
        found.append(fraction(scene, *ends))
        assert found[-1] == np.float32(nearest.fraction)
    assert 200 < sum(value < 1 for value in found) < 1000
