"""Acrobot-v1 as a world."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds import numpy_random
from mpi_es.worlds.classic_control.small_angles import cosine, sine
from mpi_es.worlds.classic_control.window import ClassicWindow
from mpi_es.worlds.world import record

F32 = np.float32
_FASTEST_1, _FASTEST_2 = 4 * math.pi, 9 * math.pi
_DT = 0.2
_FIELDS = ("theta_1", "theta_2", "theta_dot_1", "theta_dot_2")
Four = tuple[float, float, float, float]


class Acrobot:
    """gymnasium's Acrobot-v1."""

    limit = 500
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 15}  # noqa: RUF012  (gymnasium's form)

    def __init__(self) -> None:
        self.fresh = record(
            generator=numpy_random.allocate(),
            **dict.fromkeys(_FIELDS, 0.0),
            begins=False,  # gymnasium's state is float32 until the first step
            # A variable, since numpy computes squares as powers, and LLVM would multiply if it knew the
            # exponent.
            two=2.0,
        )
        high = np.array([1.0, 1.0, 1.0, 1.0, _FASTEST_1, _FASTEST_2], np.float32)
        self.observation_space = spaces.Box(-high, high, dtype=np.float32)
        self.action_space = spaces.Discrete(3)
        self.reset, self.step, self.observe = reset, step, observe

    def window(self, render_mode: str) -> ClassicWindow:
        """Return gymnasium's drawing."""
        return ClassicWindow("Acrobot-v1", render_mode, _FIELDS)


@compiled()
def reset(state: Any, seed: int) -> None:
    """Begin nearly at rest, hanging down."""
    numpy_random.begin_stream(state.generator, seed)
    state.theta_1 = F32(numpy_random.uniform(state.generator, -0.1, 0.1))
    state.theta_2 = F32(numpy_random.uniform(state.generator, -0.1, 0.1))
    state.theta_dot_1 = F32(numpy_random.uniform(state.generator, -0.1, 0.1))
    state.theta_dot_2 = F32(numpy_random.uniform(state.generator, -0.1, 0.1))
    state.begins = True


@compiled()
def step(state: Any, action: int) -> tuple[float, bool]:
    """Turn the joint for a fifth of a second, by one Runge-Kutta step."""
    y, torque, two = _state(state), action - 1.0, state.two
    state.begins = False
    k1 = _slope(y, torque, two)
    k2 = _slope(_ahead(y, k1, _DT / 2.0), torque, two)
    k3 = _slope(_ahead(y, k2, _DT / 2.0), torque, two)
    k4 = _slope(_ahead(y, k3, _DT), torque, two)
    state.theta_1 = _wrap(_sum(y[0], k1[0], k2[0], k3[0], k4[0]))
    state.theta_2 = _wrap(_sum(y[1], k1[1], k2[1], k3[1], k4[1]))
    state.theta_dot_1 = min(max(_sum(y[2], k1[2], k2[2], k3[2], k4[2]), -_FASTEST_1), _FASTEST_1)
    state.theta_dot_2 = min(max(_sum(y[3], k1[3], k2[3], k3[3], k4[3]), -_FASTEST_2), _FASTEST_2)
    over = -math.cos(state.theta_1) - math.cos(state.theta_2 + state.theta_1) > 1.0
    return 0.0 if over else -1.0, over


@compiled()
def observe(state: Any, out: NDArray[np.float32]) -> None:
    """Write the cosines and sines of both angles, and the angular velocities."""
    if state.begins:
        out[0], out[1] = cosine(F32(state.theta_1)), sine(F32(state.theta_1))
        out[2], out[3] = cosine(F32(state.theta_2)), sine(F32(state.theta_2))
    else:
        out[0], out[1] = math.cos(state.theta_1), math.sin(state.theta_1)
        out[2], out[3] = math.cos(state.theta_2), math.sin(state.theta_2)
    out[4], out[5] = state.theta_dot_1, state.theta_dot_2


@compiled()
def _state(state: Any) -> Four:
    return state.theta_1, state.theta_2, state.theta_dot_1, state.theta_dot_2


@compiled()
def _slope(y: Four, torque: float, two: float) -> Four:
    """Return the derivatives of a state, by the book's equations with masses and lengths of 1.

    Products and sums are in gymnasium's order, without its factors of 1.
    """
    theta_1, theta_2, dtheta_1, dtheta_2 = y
    cosine_2, sine_2 = math.cos(theta_2), math.sin(theta_2)
    d1 = 0.25 + (1.0 + 0.25 + cosine_2) + 1.0 + 1.0
    d2 = (0.25 + 0.5 * cosine_2) + 1.0
    phi2 = 0.5 * 9.8 * math.cos(theta_1 + theta_2 - math.pi / 2.0)
    phi1 = -0.5 * math.pow(dtheta_2, two) * sine_2 - dtheta_2 * dtheta_1 * sine_2
    phi1 = phi1 + 1.5 * 9.8 * math.cos(theta_1 - math.pi / 2) + phi2
    turn_2 = torque + d2 / d1 * phi1 - 0.5 * math.pow(dtheta_1, two) * sine_2 - phi2
    turn_2 = turn_2 / (0.25 + 1.0 - math.pow(d2, two) / d1)
    return dtheta_1, dtheta_2, -(d2 * turn_2 + phi1) / d1, turn_2


@compiled()
def _ahead(y: Four, k: Four, dt: float) -> Four:
    return y[0] + dt * k[0], y[1] + dt * k[1], y[2] + dt * k[2], y[3] + dt * k[3]


@compiled()
def _sum(y: float, k1: float, k2: float, k3: float, k4: float) -> float:
    return y + _DT / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)


@compiled()
def _wrap(angle: float) -> float:
    """Return an angle between -pi and pi, as gymnasium: turn by turn."""
    while angle > math.pi:
        angle = angle - 2 * math.pi
    while angle < -math.pi:
        angle = angle + 2 * math.pi
    return angle
