"""Which bodies are awake. The only island falls asleep as a whole, but each body wakes by itself."""

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.records import Body, Scene
from mpi_es.worlds.box2d.settings import ANGULAR_SLEEP, LARGEST, LINEAR_SLEEP, STEP, TIME_TO_SLEEP, ZERO
from mpi_es.worlds.box2d.vectors import lesser


@compiled()
def wake(body: Body) -> None:
    """Wake a body: b2Body::SetAwake."""
    if body.awake == 0:
        body.awake, body.rest = 1, ZERO


@compiled()
def any_awake(scene: Scene) -> bool:
    """Return whether the island is awake."""
    awake = False
    for i in range(len(scene.bodies)):
        awake |= scene.bodies[i].awake == 1
    return awake


@compiled()
def sleep_after_rest(scene: Scene, solved: bool) -> None:
    """Let all bodies sleep when each has rested for half a second: the end of b2Island::Solve.

    Args:
        solved: whether position errors are small.
    """
    least = LARGEST
    for i in range(len(scene.bodies)):
        body = scene.bodies[i]
        speed = body.velocity_x * body.velocity_x + body.velocity_y * body.velocity_y
        if body.spin * body.spin > ANGULAR_SLEEP * ANGULAR_SLEEP or speed > LINEAR_SLEEP * LINEAR_SLEEP:
            body.rest = least = ZERO
        else:
            body.rest += STEP
            least = lesser(least, body.rest)
    if least >= TIME_TO_SLEEP and solved:
        for i in range(len(scene.bodies)):
            body = scene.bodies[i]
            body.awake = 0
            body.rest = body.velocity_x = body.velocity_y = body.spin = ZERO
            body.force_x = body.force_y = body.torque = ZERO
