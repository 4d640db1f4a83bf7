"""LunarLander-v3 as a world. The literals are gymnasium's."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.errors import expected
from mpi_es.jit.decorator import compiled
from mpi_es.worlds import numpy_random
from mpi_es.worlds.box2d import bodies, records
from mpi_es.worlds.box2d.settings import F32, F64
from mpi_es.worlds.box2d.solver.sleep import wake
from mpi_es.worlds.box2d.step import scratch, step_several
from mpi_es.worlds.box2d.step import step as step_scene
from mpi_es.worlds.box2d.terrain import put_edge
from mpi_es.worlds.box2d.window import SceneWindow
from mpi_es.worlds.options import flag, number
from mpi_es.worlds.world import record

_SCALE, _FPS = 30.0, 50
_WIDTH, _HEIGHT = 600 / _SCALE, 400 / _SCALE  # metres
_CHUNKS = 11  # points of the moon's surface
_PAD = _HEIGHT / 4
_HULL_CORNERS = ((-14, +17), (-17, 0), (-17, -10), (+17, -10), (+17, 0), (+14, +17))
_HULL, _LEG_1, _LEG_2 = range(3)  # bodies
_MAIN, _SIDE = range(2)  # engines
# Power of the main engine, side engine that fires (-1 left, 1 right), and its power
Engines = tuple[float, float, float]
Eight = tuple[float, float, float, float, float, float, float, float]
_OFF: Engines = (0.0, 0.0, 0.0)


class LunarLander:
    """gymnasium's LunarLander-v3; its options are gymnasium's."""

    limit = 1000
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": _FPS}  # noqa: RUF012  (gymnasium's form)

    def __init__(
        self,
        continuous: bool = False,
        gravity: float = -10.0,
        enable_wind: bool = False,
        wind_power: float = 15.0,
        turbulence_power: float = 1.5,
    ) -> None:
        self.gravity = number("gravity", gravity)
        if not -12 < self.gravity < 0:
            raise expected("gravity", "a number between -12 and 0", gravity)
        self.fresh = record(
            scene=_scene(self.gravity),
            generator=numpy_random.allocate(),
            start=numpy_random.allocate(),  # the generator as the episode began
            episode=0,
            heights=np.zeros(_CHUNKS + 1),
            shaping=0.0,
            flames=np.zeros((2, 5)),  # of the main and of a side engine, see _flare
            enable_wind=flag("enable_wind", enable_wind),
            wind_power=number("wind_power", wind_power),
            turbulence_power=number("turbulence_power", turbulence_power),
            wind_index=0,
            torque_index=0,
        )
        high = np.array([2.5, 2.5, 10, 10, 2 * math.pi, 10, 1, 1], np.float32)
        low = np.append(-high[:6], [-0.0, -0.0]).astype(np.float32)
        self.observation_space = spaces.Box(low, high)
        self.action_space: Any = spaces.Discrete(4)
        if flag("continuous", continuous):
            self.action_space = spaces.Box(-1, +1, (2,), dtype=np.float32)
        self.reset, self.observe = reset, observe
        self.step = step_continuous if continuous else step_discrete
        self.step_lanes = step_continuous_lanes if continuous else step_discrete_lanes

    def scratch(self) -> NDArray[np.void]:
        """Return the working space (1,) of `step_lanes`."""
        return scratch(self.fresh.dtype["scene"])

    def window(self, render_mode: str) -> SceneWindow:
        """Return gymnasium's drawing."""
        name, gravity = "LunarLander-v3", self.gravity
        return SceneWindow(
            name, render_mode, lambda env: (env.lander, *env.legs), _fly_flames, gravity=gravity
        )


class LunarLanderContinuous(LunarLander):
    """gymnasium's LunarLanderContinuous-v3."""

    def __init__(self, continuous: bool = True, **options: Any) -> None:
        super().__init__(continuous, **options)


def _fly_flames(env: Any, state: Any) -> None:
    """Add the flames of the last step to gymnasium's drawing, and let Box2D move all flames."""
    for mass, flame in zip((3.5, 0.7), state["flames"].tolist(), strict=True):
        power, x, y, *impulse = flame
        if power > 0:
            env._create_particle(mass, x, y, power).ApplyLinearImpulse(impulse, (x, y), True)
    env.world.Step(1 / _FPS, 6 * 30, 2 * 30)


def _scene(gravity: float) -> NDArray[np.void]:
    """Return the lander and its legs, without a moon."""
    pieces = _CHUNKS  # the first is far below the others
    scene = np.zeros((), records.scene(bodies=3, joints=2, pieces=pieces, contacts=3 * pieces))
    x, y = _WIDTH / 2, _HEIGHT
    hull = bodies.polygon([(x / _SCALE, y / _SCALE) for x, y in _HULL_CORNERS])
    scene["bodies"][_HULL] = bodies.placed(hull, 5.0, 0.1, (x, y))[0]
    for leg, side, limits in ((_LEG_1, -1, (0.9 - 0.5, 0.9)), (_LEG_2, +1, (-0.9, -0.9 + 0.5))):
        body = bodies.placed(
            bodies.box(2 / _SCALE, 8 / _SCALE),
            density=1.0,
            friction=bodies.DEFAULT_FRICTION,
            position=(x - side * 20 / _SCALE, y),
            angle=side * 0.05,
        )
        scene["bodies"][leg] = body[0]
        anchors = (0, 0), (side * 20 / _SCALE, 18 / _SCALE)
        joint = bodies.joint(scene["bodies"], _HULL, leg, anchors, limits, motor=(0.3 * side, 40))
        scene["joints"][leg - 1] = joint[0]
    scene["body_order"], scene["joint_order"] = (_LEG_2, _HULL, _LEG_1), (1, 0)
    scene["gravity"], scene["piece_count"] = gravity, pieces
    return scene


@compiled()
def reset(state: Any, seed: int) -> None:
    """Begin above a new moon, with one step without engines."""
    numpy_random.begin_stream(state.generator, seed)
    state.episode += 1
    for i in range(len(state.start)):
        state.start[i] = state.generator[i]
    _make_moon(state)
    bodies.begin(state.scene)
    hull = state.scene.bodies[_HULL]
    hull.force_x = F32(numpy_random.uniform(state.generator, -1000.0, 1000.0))
    hull.force_y = F32(numpy_random.uniform(state.generator, -1000.0, 1000.0))
    if state.enable_wind:
        state.wind_index = numpy_random.integers(state.generator, 19998) - 9999
        state.torque_index = numpy_random.integers(state.generator, 19998) - 9999
    _fire(state, _OFF)
    step_scene(state.scene)
    state.shaping = _shaping(_numbers(state))


@compiled()
def _make_moon(state: Any) -> None:
    """Draw the surface's heights, smooth them and put the edges between them."""
    heights = state.heights
    for i in range(len(heights)):
        heights[i] = numpy_random.uniform(state.generator, 0.0, _HEIGHT / 2)
    for i in range(_CHUNKS // 2 - 2, _CHUNKS // 2 + 3):
        heights[i] = _PAD
    put_edge(state.scene, 0, 0.0, 0.0, _WIDTH, 0.0, 0, bodies.DEFAULT_FRICTION)
    for i in range(1, _CHUNKS):
        x1, x2 = _WIDTH / (_CHUNKS - 1) * (i - 1), _WIDTH / (_CHUNKS - 1) * i
        put_edge(state.scene, i, x1, _smooth(heights, i - 1), x2, _smooth(heights, i), 0, 0.1)


@compiled()
def _smooth(heights: NDArray[np.float64], i: int) -> float:
    return float(0.33 * (heights[(i - 1) % len(heights)] + heights[i] + heights[i + 1]))


@compiled()
def step_discrete(state: Any, action: int) -> tuple[float, bool]:
    """Fire no engine, the left one, the main one or the right one for a step."""
    _fire(state, _chosen(action))
    step_scene(state.scene)
    return _score(state)


@compiled()
def step_continuous(state: Any, action: NDArray[np.float32]) -> tuple[float, bool]:
    """Fire the main engine and a side engine with these throttles for a step."""
    _fire(state, _throttled(action))
    step_scene(state.scene)
    return _score(state)


@compiled()
def step_discrete_lanes(states: Any, actions: Any, rewards: Any, overs: Any, scratch: Any) -> None:
    """Step several states at once, as `step_discrete` does."""
    for i in range(len(states)):
        _fire(states[i], _chosen(actions[i]))
    step_several(states, scratch)
    for i in range(len(states)):
        rewards[i], overs[i] = _score(states[i])


@compiled()
def step_continuous_lanes(states: Any, actions: Any, rewards: Any, overs: Any, scratch: Any) -> None:
    """Step several states at once, as `step_continuous` does."""
    for i in range(len(states)):
        _fire(states[i], _throttled(actions[i]))
    step_several(states, scratch)
    for i in range(len(states)):
        rewards[i], overs[i] = _score(states[i])


@compiled()
def _chosen(action: int) -> Engines:
    """Return the engines that a discrete action fires."""
    if action == 2:
        return 1.0, 0.0, 0.0
    if action == 0:
        return _OFF
    return 0.0, action - 2.0, 1.0


@compiled()
def _throttled(action: NDArray[np.float32]) -> Engines:
    """Return the engines that a continuous action fires."""
    main, side = min(max(F64(action[0]), -1.0), 1.0), min(max(F64(action[1]), -1.0), 1.0)
    main_power = (main + 1.0) * 0.5 if main > 0.0 else 0.0
    if abs(side) > 0.5:
        return main_power, 1.0 if side > 0.0 else -1.0, abs(side)
    return main_power, 0.0, 0.0


@compiled()
def _fire(state: Any, engines: Engines) -> None:
    """Let wind and engines push the hull."""
    if state.enable_wind:
        _blow(state)
    main_power, way, side_power = engines
    hull = state.scene.bodies[_HULL]
    angle, x, y = F64(hull.angle), F64(hull.origin_x), F64(hull.origin_y)
    tip_x, tip_y = math.sin(angle), math.cos(angle)
    side_x, side_y = -tip_y, tip_x
    # Two draws in each step, even without engines
    noise_1 = numpy_random.uniform(state.generator, -1.0, 1.0) / _SCALE
    noise_2 = numpy_random.uniform(state.generator, -1.0, 1.0) / _SCALE
    o_x = tip_x * (4 / _SCALE + 2 * noise_1) + side_x * noise_2
    o_y = -tip_y * (4 / _SCALE + 2 * noise_1) - side_y * noise_2
    _flare(state.flames[_MAIN], hull, main_power, x + o_x, y + o_y, o_x * 13.0, o_y * 13.0)
    o_x = tip_x * noise_1 + side_x * (3 * noise_2 + way * 12 / _SCALE)
    o_y = -tip_y * noise_1 - side_y * (3 * noise_2 + way * 12 / _SCALE)
    at_x, at_y = x + o_x - tip_x * 17 / _SCALE, y + o_y + tip_y * 14 / _SCALE
    _flare(state.flames[_SIDE], hull, side_power, at_x, at_y, o_x * 0.6, o_y * 0.6)


@compiled()
def _flare(
    flame: Any, hull: Any, power: float, x: float, y: float, impulse_x: float, impulse_y: float
) -> None:
    """Let an engine push the hull, and note its flame: power, place and impulse."""
    flame[0], flame[1], flame[2], flame[3], flame[4] = power, x, y, impulse_x * power, impulse_y * power
    if power > 0.0:
        bodies.push(hull, -flame[3], -flame[4], x, y)


@compiled()
def _score(state: Any) -> tuple[float, bool]:
    """Return a step's reward, and whether the episode is over."""
    numbers = _numbers(state)
    shaping = _shaping(numbers)
    reward = shaping - state.shaping - state.flames[_MAIN, 0] * 0.30 - state.flames[_SIDE, 0] * 0.03
    state.shaping = shaping
    hull = state.scene.bodies[_HULL]
    if hull.awake == 0:
        return 100.0, True
    if hull.touched or abs(numbers[0]) >= 1.0:
        return -100.0, True
    return reward, False


@compiled()
def _blow(state: Any) -> None:
    """Let the wind push and turn the hull, unless a leg is on the ground."""
    scene = state.scene
    hull = scene.bodies[_HULL]
    if scene.bodies[_LEG_1].on_ground or scene.bodies[_LEG_2].on_ground:
        return
    wake(hull)
    hull.force_x += F32(_gust(state.wind_index) * state.wind_power)
    hull.torque += F32(_gust(state.torque_index) * state.turbulence_power)
    state.wind_index += 1
    state.torque_index += 1


@compiled()
def _gust(index: int) -> float:
    """Return a wind between -1 and 1 that never repeats."""
    return math.tanh(math.sin(0.02 * index) + math.sin(math.pi * 0.01 * index))


@compiled()
def observe(state: Any, out: NDArray[np.float32]) -> None:
    """Write position, velocity, angle, spin, and which legs are on the ground."""
    numbers = _numbers(state)
    for i in range(len(numbers)):
        out[i] = numbers[i]


@compiled()
def _numbers(state: Any) -> Eight:
    """Return gymnasium's state, before it is rounded to float32."""
    hull, leg_1, leg_2 = state.scene.bodies[_HULL], state.scene.bodies[_LEG_1], state.scene.bodies[_LEG_2]
    return (
        (F64(hull.origin_x) - _WIDTH / 2) / (_WIDTH / 2),
        (F64(hull.origin_y) - (_PAD + 18 / _SCALE)) / (_HEIGHT / 2),
        F64(hull.velocity_x) * (_WIDTH / 2) / _FPS,
        F64(hull.velocity_y) * (_HEIGHT / 2) / _FPS,
        F64(hull.angle),
        20.0 * F64(hull.spin) / _FPS,
        F64(leg_1.on_ground),
        F64(leg_2.on_ground),
    )


@compiled()
def _shaping(numbers: Eight) -> float:
    """Return the potential whose increase is a step's reward, without fuel."""
    x, y, velocity_x, velocity_y, angle, _, leg_1, leg_2 = numbers
    far = -100 * math.sqrt(x * x + y * y) - 100 * math.sqrt(velocity_x * velocity_x + velocity_y * velocity_y)
    return far - 100 * abs(angle) + 10 * leg_1 + 10 * leg_2
