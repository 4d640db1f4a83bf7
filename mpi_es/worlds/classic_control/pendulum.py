"""Pendulum-v1 as a world."""

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

F32 = np.float32


class Pendulum:
    """gymnasium's Pendulum-v1.

    Args:
        g: as in gymnasium: the acceleration of gravity.
    """

    limit = 200
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 30}  # noqa: RUF012  (gymnasium's form)

    def __init__(self, g: float = 10.0) -> None:
        self.fresh = record(
            generator=numpy_random.allocate(),
            theta=0.0,
            theta_dot=0.0,
            last_u=np.nan,  # the torque that is drawn; none yet
            g=number("g", g),
            # A variable, since numpy computes squares as powers, and LLVM would multiply if it knew the
            # exponent.
            two=2.0,
            two_of_float32=F32(2),
        )
        high = np.array([1.0, 1.0, 8.0], np.float32)
        self.observation_space = spaces.Box(-high, high, dtype=np.float32)
        self.action_space = spaces.Box(-2.0, 2.0, (1,), np.float32)
        self.reset, self.step, self.observe = reset, step, observe

    def window(self, render_mode: str) -> ClassicWindow:
        """Return gymnasium's drawing."""
        return ClassicWindow("Pendulum-v1", render_mode, ("theta", "theta_dot"), last="last_u")


@compiled()
def reset(state: Any, seed: int) -> None:
    """Begin at any angle."""
    numpy_random.begin_stream(state.generator, seed)
    state.theta = numpy_random.uniform(state.generator, -math.pi, math.pi)
    state.theta_dot = numpy_random.uniform(state.generator, -1.0, 1.0)
    state.last_u = math.nan


@compiled()
def step(state: Any, action: NDArray[np.float32]) -> tuple[float, bool]:
    """Apply a torque; an episode never ends by itself."""
    torque = min(max(action[0], F32(-2)), F32(2))
    state.last_u = torque
    angle = (state.theta + math.pi) % (2 * math.pi) - math.pi
    cost = math.pow(angle, state.two) + 0.1 * math.pow(state.theta_dot, state.two)
    cost += np.float64(F32(0.001) * math.pow(torque, state.two_of_float32))
    acceleration = 3 * state.g / 2.0 * math.sin(state.theta) + np.float64(F32(3) * torque)
    state.theta_dot = min(max(state.theta_dot + acceleration * 0.05, -8.0), 8.0)
    state.theta += state.theta_dot * 0.05
    return -cost, False


@compiled()
def observe(state: Any, out: NDArray[np.float32]) -> None:
    """Write the position of the pendulum's end and its angular velocity."""
    out[0], out[1], out[2] = math.cos(state.theta), math.sin(state.theta), state.theta_dot
