"""MountainCar-v0 as a world."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds import numpy_random
from mpi_es.worlds.classic_control.window import ClassicWindow
from mpi_es.worlds.options import number
from mpi_es.worlds.world import record

LOWEST, HIGHEST, FASTEST = -1.2, 0.6, 0.07  # positions and speed
LOWEST_STATE = np.array([LOWEST, -FASTEST], np.float32)
HIGHEST_STATE = np.array([HIGHEST, FASTEST], np.float32)


class MountainCar:
    """gymnasium's MountainCar-v0.

    Args:
        goal_velocity: as in gymnasium: the velocity required at the flag.
    """

    limit = 200
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 30}  # noqa: RUF012  (gymnasium's form)

    def __init__(self, goal_velocity: float = 0) -> None:
        self.fresh = record(
            generator=numpy_random.allocate(),
            position=0.0,
            velocity=0.0,
            goal_velocity=number("goal_velocity", goal_velocity),
        )
        self.observation_space = spaces.Box(LOWEST_STATE, HIGHEST_STATE)
        self.action_space = spaces.Discrete(3)
        self.reset, self.step, self.observe = reset, step, observe

    def window(self, render_mode: str) -> ClassicWindow:
        """Return gymnasium's drawing."""
        return ClassicWindow("MountainCar-v0", render_mode, ("position", "velocity"))


@compiled()
def reset(state: Any, seed: int) -> None:
    """Begin at rest in the valley."""
    numpy_random.begin_stream(state.generator, seed)
    state.position = numpy_random.uniform(state.generator, -0.6, -0.4)
    state.velocity = 0.0


@compiled()
def step(state: Any, action: int) -> tuple[float, bool]:
    """Push left, not at all or right."""
    velocity = state.velocity + ((action - 1) * 0.001 + math.cos(3 * state.position) * -0.0025)
    velocity = min(max(velocity, -FASTEST), FASTEST)
    position = min(max(state.position + velocity, LOWEST), HIGHEST)
    if position == LOWEST and velocity < 0:
        velocity = 0.0
    state.position, state.velocity = position, velocity
    return -1.0, position >= 0.5 and velocity >= state.goal_velocity


@compiled()
def observe(state: Any, out: NDArray[np.float32]) -> None:
    """Write position and velocity."""
    out[0], out[1] = state.position, state.velocity
