"""BipedalWalker-v3 and its hardcore variant as worlds. The literals are gymnasium's.

gymnasium keeps Box2D's world across episodes, so that old bodies change the order of contacts. Here an
episode depends only on its seed and actions, as in gymnasium with a new Box2D world
(mpi_es/envs/fresh_world.py).
"""

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds import numpy_random
from mpi_es.worlds.bipedal_terrain import (
    EDGES,
    HEIGHT,
    MOST_POLYGONS,
    POINTS,
    SCALE,
    START,
    STEP,
    make_terrain,
)
from mpi_es.worlds.box2d import bodies, records
from mpi_es.worlds.box2d.rays import Ray, cast
from mpi_es.worlds.box2d.settings import F32, F64, ONE, ZERO
from mpi_es.worlds.box2d.solver.sleep import wake
from mpi_es.worlds.box2d.step import scratch, step_several
from mpi_es.worlds.box2d.step import step as step_scene
from mpi_es.worlds.box2d.vectors import lesser
from mpi_es.worlds.box2d.window import SceneWindow
from mpi_es.worlds.options import flag
from mpi_es.worlds.world import record

_FPS = 50
_LEG_DOWN, _LEG_WIDTH, _LEG_HEIGHT = -8 / SCALE, 8 / SCALE, 34 / SCALE
_LIDAR_RANGE, _RAYS = 160 / SCALE, 10
_HULL_CORNERS = ((-30, +9), (+6, +9), (+34, +1), (+34, -8), (-30, -8))
_HULL, _LOWER_1, _LOWER_2 = 0, 2, 4  # bodies; 1 and 3 are the upper legs
_TORQUE = F32(80)
_SPEEDS = (F32(4), F32(6), F32(4), F32(6))  # of the joints: hip, knee, hip, knee
_COST = F32(0.00035 * 80)  # of a motor at full torque
_MOST_CONTACTS = 64  # at most 28 were ever seen


class BipedalWalker:
    """gymnasium's BipedalWalker-v3, in a new Box2D world for each episode."""

    limit = 1600
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": _FPS}  # noqa: RUF012  (gymnasium's form)

    def __init__(self, hardcore: bool = False) -> None:
        self.hardcore = flag("hardcore", hardcore)
        self.fresh = record(
            scene=_scene(),
            generator=numpy_random.allocate(),
            start=numpy_random.allocate(),  # the generator as the episode began
            episode=0,
            shaping=0.0,
            hardcore=hardcore,
            # State of the terrain
            heights=np.zeros(POINTS),
            corners=np.zeros((records.QUAD, 2), np.float32),
            **dict.fromkeys(("mode", "counter", "steps", "way", "polygons"), 0),
            **dict.fromkeys(("velocity", "height", "before"), 0.0),
            is_new=False,
        )
        leg = [math.pi, 5, math.pi, 5, 5]
        high = np.array([math.pi, 5, 5, 5, *leg, *leg, *[1] * _RAYS], np.float32)
        low = -high
        low[[8, 13]] = -0.0
        self.observation_space = spaces.Box(low, high)
        self.action_space = spaces.Box(-1, 1, (4,), np.float32)
        self.reset, self.step, self.observe, self.step_lanes = reset, step, observe, step_lanes

    def scratch(self) -> NDArray[np.void]:
        """Return the working space (1,) of `step_lanes`."""
        return scratch(self.fresh.dtype["scene"])

    def window(self, render_mode: str) -> SceneWindow:
        """Return gymnasium's drawing."""
        name = "BipedalWalker-v3"
        return SceneWindow(
            name, render_mode, lambda env: (env.hull, *env.legs), _look, hardcore=self.hardcore
        )


class BipedalWalkerHardcore(BipedalWalker):
    """gymnasium's BipedalWalkerHardcore-v3, with stumps, stairs and pits."""

    limit = 2000

    def __init__(self, hardcore: bool = True) -> None:
        super().__init__(hardcore)


def _look(env: Any, state: Any) -> None:
    """Scroll gymnasium's picture to the walker, and cast the rays, some of which it draws."""
    place = env.hull.position
    env.scroll = place.x - 600 / SCALE / 5
    for i, ray in enumerate(env.lidar):
        ray.fraction, ray.p1 = 1.0, place
        ray.p2 = (
            place[0] + math.sin(1.5 * i / 10.0) * _LIDAR_RANGE,
            place[1] - math.cos(1.5 * i / 10.0) * _LIDAR_RANGE,
        )
        env.world.RayCast(ray, ray.p1, ray.p2)


def _scene() -> NDArray[np.void]:
    """Return the walker, without a terrain."""
    kind = records.scene(bodies=5, joints=4, pieces=EDGES + MOST_POLYGONS, contacts=_MOST_CONTACTS)
    scene = np.zeros((), kind)
    x, y = STEP * START / 2, HEIGHT + 2 * _LEG_HEIGHT
    hull = bodies.polygon([(x / SCALE, y / SCALE) for x, y in _HULL_CORNERS])
    scene["bodies"][_HULL] = bodies.placed(hull, 5.0, 0.1, (x, y))[0]
    for upper, side in ((1, -1), (3, +1)):
        _add_limb(scene, upper, _LEG_WIDTH / 2, (x, y - _LEG_HEIGHT / 2 - _LEG_DOWN), side * 0.05)
        joint = bodies.joint(
            scene["bodies"], _HULL, upper, ((0, _LEG_DOWN), (0, _LEG_HEIGHT / 2)), (-0.8, 1.1), (side, 80)
        )
        scene["joints"][upper - 1] = joint[0]
        lower = upper + 1
        _add_limb(scene, lower, 0.8 * _LEG_WIDTH / 2, (x, y - _LEG_HEIGHT * 3 / 2 - _LEG_DOWN), side * 0.05)
        ends = (0, -_LEG_HEIGHT / 2), (0, _LEG_HEIGHT / 2)
        scene["joints"][lower - 1] = bodies.joint(scene["bodies"], upper, lower, ends, (-1.6, -0.1), (1, 80))[
            0
        ]
    scene["body_order"], scene["joint_order"] = (4, 3, 0, 1, 2), (3, 2, 0, 1)
    scene["gravity"] = -10
    return scene


def _add_limb(
    scene: NDArray[np.void], i: int, half_width: float, position: tuple[float, float], angle: float
) -> None:
    """Make body i a part of a leg."""
    limb = bodies.box(half_width, _LEG_HEIGHT / 2)
    scene["bodies"][i] = bodies.placed(limb, 1.0, bodies.DEFAULT_FRICTION, position, angle)[0]


@compiled()
def reset(state: Any, seed: int) -> None:
    """Begin on a new terrain, with one step with idle motors."""
    generator = state.generator
    numpy_random.begin_stream(generator, seed)
    state.episode += 1
    for i in range(len(generator)):
        state.start[i] = generator[i]
    make_terrain(state)
    for _ in range(10 * (1 + 2 * 5)):
        numpy_random.uniform(generator, 0.0, 1.0)  # clouds, which only the picture shows
    bodies.begin(state.scene)
    hull = state.scene.bodies[_HULL]
    hull.force_x = F32(numpy_random.uniform(generator, -5.0, 5.0))
    for i in range(len(state.scene.joints)):
        joint = state.scene.joints[i]
        joint.motor_speed, joint.motor_torque = ZERO, ZERO
    step_scene(state.scene)
    state.shaping = _shaping(state)


@compiled()
def step(state: Any, action: NDArray[np.float32]) -> tuple[float, bool]:
    """Turn the joints for a step, each in the direction of its action with that share of its torque."""
    _turn_joints(state.scene, action)
    step_scene(state.scene)
    return _score(state, action)


@compiled()
def step_lanes(states: Any, actions: Any, rewards: Any, overs: Any, scratch: Any) -> None:
    """Step several states at once."""
    for i in range(len(states)):
        _turn_joints(states[i].scene, actions[i])
    step_several(states, scratch)
    for i in range(len(states)):
        rewards[i], overs[i] = _score(states[i], actions[i])


@compiled()
def _turn_joints(scene: Any, action: NDArray[np.float32]) -> None:
    """Set the motors, which wakes the bodies."""
    for i in range(len(scene.joints)):
        joint = scene.joints[i]
        joint.motor_speed = _SPEEDS[i] * np.sign(action[i])
        joint.motor_torque = _TORQUE * lesser(abs(action[i]), ONE)
    for i in range(len(scene.bodies)):
        wake(scene.bodies[i])


@compiled()
def _score(state: Any, action: NDArray[np.float32]) -> tuple[float, bool]:
    """Return a step's reward, and whether the episode is over."""
    shaping = _shaping(state)
    # In gymnasium the float32 of the actions makes the reward float32 at each subtraction.
    reward = F32(shaping - state.shaping)
    for i in range(len(action)):
        reward = F32(reward - _COST * lesser(abs(action[i]), ONE))
    state.shaping = shaping
    hull = state.scene.bodies[_HULL]
    fell = hull.touched or hull.origin_x < ZERO
    over = fell or F64(hull.origin_x) > (POINTS - 10) * STEP
    return -100.0 if fell else F64(reward), bool(over)


@compiled()
def _shaping(state: Any) -> float:
    """Return the potential whose increase is a step's reward: progress, less the tilt of the hull."""
    hull = state.scene.bodies[_HULL]
    return 130 * F64(hull.origin_x) / SCALE - 5.0 * abs(F64(hull.angle))


@compiled()
def observe(state: Any, out: NDArray[np.float32]) -> None:
    """Write the hull's motion, each leg's joints and ground contact, and the lidar's distances."""
    scene = state.scene
    hull = scene.bodies[_HULL]
    out[0], out[1] = hull.angle, 2.0 * F64(hull.spin) / _FPS
    out[2] = 0.3 * F64(hull.velocity_x) * (600 / SCALE) / _FPS
    out[3] = 0.3 * F64(hull.velocity_y) * (400 / SCALE) / _FPS
    out[4], out[5] = _bend(scene, 0), _turn(scene, 0) / 4
    out[6], out[7] = F64(_bend(scene, 1)) + 1.0, _turn(scene, 1) / 6
    out[8] = scene.bodies[_LOWER_1].on_ground
    out[9], out[10] = _bend(scene, 2), _turn(scene, 2) / 4
    out[11], out[12] = F64(_bend(scene, 3)) + 1.0, _turn(scene, 3) / 6
    out[13] = scene.bodies[_LOWER_2].on_ground
    _scan(state, out)


@compiled()
def _bend(scene: Any, i: int) -> np.float32:
    """Return a joint's angle: b2RevoluteJoint::GetJointAngle."""
    joint = scene.joints[i]
    return F32(scene.bodies[joint.b].angle - scene.bodies[joint.a].angle - joint.reference)


@compiled()
def _turn(scene: Any, i: int) -> float:
    """Return how fast a joint turns."""
    joint = scene.joints[i]
    return F64(scene.bodies[joint.b].spin - scene.bodies[joint.a].spin)


@compiled()
def _scan(state: Any, out: NDArray[np.float32]) -> None:
    """Write how far the ground is in ten directions, from below to nearly ahead."""
    hull = state.scene.bodies[_HULL]
    x1, y1 = hull.origin_x, hull.origin_y
    for i in range(_RAYS):
        x2 = F32(F64(x1) + math.sin(1.5 * i / 10.0) * _LIDAR_RANGE)
        y2 = F32(F64(y1) - math.cos(1.5 * i / 10.0) * _LIDAR_RANGE)
        ray = Ray(x1, y1, x2, y2)
        # Edges are adjacent; one more at each end covers the margin of their boxes.
        first, last = max(0, int(x1 / STEP) - 1), min(EDGES, int(x2 / STEP) + 2)
        nearest = cast(state.scene, ray, 0, state.polygons, ONE)
        out[14 + i] = cast(state.scene, ray, state.polygons + first, state.polygons + last, nearest)
