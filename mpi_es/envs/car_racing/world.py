"""CarRacing as a world: what compiled episodes drive. Its state is a Simulation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing import simulation
from mpi_es.envs.car_racing.options import DISCRETE, Choices, action_space, observation_space
from mpi_es.envs.car_racing.simulation import Simulation
from mpi_es.jit.decorator import compiled


class CarRacingWorld:
    """A race of some choices; several are several simulations."""

    def __init__(self, choices: Choices, continuous: bool) -> None:
        self.choices = choices
        self.observation_space, self.action_space = observation_space(), action_space(continuous)
        self.reset, self.observe = reset, observe
        self.step: Any = steer if continuous else choose

    def allocate(self) -> Simulation:
        """Return a simulation without a track."""
        return simulation.allocate(*self.choices)


@compiled()
def reset(state: Simulation, seed: int) -> None:
    """Begin an episode; with a negative seed where the generators stand."""
    if seed >= 0:
        simulation.begin_streams(state, seed)
    simulation.start(state, state.randomized)


@compiled()
def steer(state: Simulation, action: NDArray[np.float32]) -> tuple[float, bool]:
    """Drive for a step with steering, gas and brake."""
    return simulation.move(state, np.float64(action[0]), np.float64(action[1]), np.float64(action[2]))


@compiled()
def choose(state: Simulation, action: int) -> tuple[float, bool]:
    """Drive for a step with one of gymnasium's five actions."""
    return simulation.move(state, DISCRETE[action, 0], DISCRETE[action, 1], DISCRETE[action, 2])


@compiled()
def observe(state: Simulation, out: NDArray[np.uint8]) -> None:
    """Draw and write the picture."""
    simulation.draw(state)
    out[:] = state.picture
