"""A step of Box2D's world."""

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.contacts import collide
from mpi_es.worlds.box2d.impacts import solve_impacts
from mpi_es.worlds.box2d.island import solve
from mpi_es.worlds.box2d.records import Scene
from mpi_es.worlds.box2d.settings import WARMTH, ZERO


@compiled()
def step(scene: Scene) -> None:
    """Advance a scene by a step: b2World::Step."""
    collide(scene)
    solve(scene)
    end_step(scene)


@compiled()
def end_step(scene: Scene) -> None:
    """Find the impacts, and be ready for the next step."""
    solve_impacts(scene)
    scene.warmth = WARMTH
    for i in range(len(scene.bodies)):
        body = scene.bodies[i]
        body.force_x = body.force_y = body.torque = ZERO
