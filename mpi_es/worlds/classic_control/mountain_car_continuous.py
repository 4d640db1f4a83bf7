"""MountainCarContinuous-v0 as a world."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds import numpy_random
from mpi_es.worlds.classic_control.mountain_car import FASTEST, HIGHEST, HIGHEST_STATE, LOWEST, LOWEST_STATE
from mpi_es.worlds.classic_control.window import ClassicWindow
from mpi_es.worlds.options import number
from mpi_es.worlds.world import record

F32 = np.float32
# gymnasium computes in float32 from the second step on, where numpy rounds the constants too.
_FASTEST, _LOWEST, _HIGHEST, _GOAL = F32(FASTEST), F32(LOWEST), F32(HIGHEST), F32(0.45)
_POWER = 0.0015


class MountainCarContinuous:
    """gymnasium's MountainCarContinuous-v0.

    Args:
        goal_velocity: as in gymnasium: the velocity required at the flag.
    """

    limit = 999
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 30}  # noqa: RUF012  (gymnasium's form)

    def __init__(self, goal_velocity: float = 0) -> None:
        self.fresh = record(
            generator=numpy_random.allocate(),
            first_position=0.0,  # gymnasium rounds only its observation to float32
            position=F32(0),
            velocity=F32(0),
            begins=False,
            goal_velocity=F32(number("goal_velocity", goal_velocity)),
        )
        self.observation_space = spaces.Box(LOWEST_STATE, HIGHEST_STATE)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.reset, self.step, self.observe = reset, step, observe

    def window(self, render_mode: str) -> ClassicWindow:
        """Return gymnasium's drawing."""
        return ClassicWindow("MountainCarContinuous-v0", render_mode, ("position", "velocity"))


@compiled()
def reset(state: Any, seed: int) -> None:
    """Begin at rest in the valley."""
    numpy_random.begin_stream(state.generator, seed)
    state.first_position = numpy_random.uniform(state.generator, -0.6, -0.4)
    state.position, state.velocity = state.first_position, 0.0
    state.begins = True


@compiled()
def step(state: Any, action: NDArray[np.float32]) -> tuple[float, bool]:
    """Push with a force."""
    within = action[0] >= F32(-1) and action[0] <= F32(1)
    force = min(max(np.float64(action[0]), -1.0), 1.0) * _POWER
    if within:
        force = np.float64(action[0] * F32(_POWER))
    if state.begins:
        state.begins = False
        _begin(state, force, within)
    else:
        _go_on(state, force, within)
    over = state.position >= _GOAL and state.velocity >= state.goal_velocity
    return (100.0 if over else 0.0) - np.float64(action[0]) * np.float64(action[0]) * 0.1, over


@compiled()
def _begin(state: Any, force: float, within: bool) -> None:
    """Make an episode's first step, from a position in float64; it reaches neither a bound nor the flag."""
    change = _change(force, 0.0025 * math.cos(3 * state.first_position), within)
    state.position, state.velocity = state.first_position + change, change


@compiled()
def _go_on(state: Any, force: float, within: bool) -> None:
    """Make any other step."""
    slope = 0.0025 * math.cos(np.float64(F32(3) * state.position))
    velocity = state.velocity + F32(_change(force, slope, within))
    velocity = min(max(velocity, -_FASTEST), _FASTEST)
    position = min(max(state.position + velocity, _LOWEST), _HIGHEST)
    if position == _LOWEST and velocity < F32(0):
        velocity = F32(0)
    state.position, state.velocity = position, velocity


@compiled()
def _change(force: float, slope: float, within: bool) -> float:
    """Return the velocity's change: gymnasium's force is a float32 within the bounds, else a float64."""
    return np.float64(F32(force) - F32(slope)) if within else force - slope


@compiled()
def observe(state: Any, out: NDArray[np.float32]) -> None:
    """Write position and velocity."""
    out[0], out[1] = state.position, state.velocity
