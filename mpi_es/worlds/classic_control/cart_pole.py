"""CartPole-v1 as a world."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds import numpy_random
from mpi_es.worlds.classic_control.window import ClassicWindow
from mpi_es.worlds.options import flag
from mpi_es.worlds.world import record

_FARTHEST = 2.4
_STEEPEST = 12 * 2 * math.pi / 360
_TOTAL_MASS = 0.1 + 1.0
_POLE_MOMENT = 0.1 * 0.5  # mass and half length


class CartPole:
    """gymnasium's CartPole-v1.

    Args:
        sutton_barto_reward: as in gymnasium: 0 for a step, -1 for the last one.
    """

    limit = 500
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 50}  # noqa: RUF012  (gymnasium's form)

    def __init__(self, sutton_barto_reward: bool = False) -> None:
        self.fresh = record(
            generator=numpy_random.allocate(),
            x=0.0,
            x_dot=0.0,
            theta=0.0,
            theta_dot=0.0,
            rewards=[0.0, -1.0] if flag("sutton_barto_reward", sutton_barto_reward) else [1.0, 1.0],
        )
        high = np.array([_FARTHEST * 2, np.inf, _STEEPEST * 2, np.inf], np.float32)
        self.observation_space = spaces.Box(-high, high, dtype=np.float32)
        self.action_space = spaces.Discrete(2)
        self.reset, self.step, self.observe = reset, step, observe

    def window(self, render_mode: str) -> ClassicWindow:
        """Return gymnasium's drawing."""
        return ClassicWindow("CartPole-v1", render_mode, ("x", "x_dot", "theta", "theta_dot"))


@compiled()
def reset(state: Any, seed: int) -> None:
    """Begin near the middle, nearly upright."""
    numpy_random.begin_stream(state.generator, seed)
    state.x = numpy_random.uniform(state.generator, -0.05, 0.05)
    state.x_dot = numpy_random.uniform(state.generator, -0.05, 0.05)
    state.theta = numpy_random.uniform(state.generator, -0.05, 0.05)
    state.theta_dot = numpy_random.uniform(state.generator, -0.05, 0.05)


@compiled()
def step(state: Any, action: int) -> tuple[float, bool]:
    """Push the cart for a fiftieth of a second."""
    force = 10.0 if action == 1 else -10.0
    cosine, sine = math.cos(state.theta), math.sin(state.theta)
    push = (force + _POLE_MOMENT * (state.theta_dot * state.theta_dot) * sine) / _TOTAL_MASS
    turn = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * (cosine * cosine) / _TOTAL_MASS))
    thrust = push - _POLE_MOMENT * turn * cosine / _TOTAL_MASS
    state.x += 0.02 * state.x_dot
    state.x_dot += 0.02 * thrust
    state.theta += 0.02 * state.theta_dot
    state.theta_dot += 0.02 * turn
    over = state.x < -_FARTHEST or state.x > _FARTHEST or state.theta < -_STEEPEST or state.theta > _STEEPEST
    return state.rewards[1 if over else 0], over


@compiled()
def observe(state: Any, out: NDArray[np.float32]) -> None:
    """Write positions and velocities of cart and pole."""
    out[0], out[1] = state.x, state.x_dot
    out[2], out[3] = state.theta, state.theta_dot
