"""CarRacing as a world. Its state is a Simulation."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.errors import expected, unknown
from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing import simulation, variants
from mpi_es.worlds.car_racing.physics import race
from mpi_es.worlds.car_racing.picture.sizes import SIDE
from mpi_es.worlds.car_racing.simulation import Simulation
from mpi_es.worlds.options import flag, number
from mpi_es.worlds.world import Window

# What gymnasium's discrete actions do: nothing, right, left, gas, brake.
DISCRETE = np.array([(0.0, 0.0, 0.0), (0.6, 0.0, 0.0), (-0.6, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.8)])


class CarRacing:
    """gymnasium's CarRacing-v3: with bit-identical tracks, rewards and ends.

    Args:
        lap_complete_percent: as in gymnasium.
        domain_randomize: as in gymnasium.
        continuous: as in gymnasium.
        picture: "exact" observes gymnasium's pixels; "close" observes pixels that hardly differ, in a
            fraction of the time.
        variant: plain, or the paper's color, bars or blob.
        grass_cost: subtracted from a step's reward for each wheel off the road.
    """

    limit = 1000
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 50}  # noqa: RUF012  (gymnasium's form)
    facts = ("lap_finished",)

    def __init__(
        self,
        lap_complete_percent: float = 0.95,
        domain_randomize: bool = False,
        continuous: bool = True,
        picture: str = "close",
        variant: str = "plain",
        grass_cost: float = 0.0,
    ) -> None:
        self.picture, self.variant = str(picture), str(variant)
        if self.picture not in simulation.PICTURES:
            raise unknown("picture", self.picture, simulation.PICTURES)
        if self.variant not in variants.NAMES:
            raise unknown("variant", self.variant, variants.NAMES)
        self.lap_complete_percent = number("lap_complete_percent", lap_complete_percent)
        self.domain_randomize = flag("domain_randomize", domain_randomize)
        self.grass_cost = number("grass_cost", grass_cost)
        self.observation_space = spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)
        self.action_space: Any = spaces.Discrete(len(DISCRETE))
        if flag("continuous", continuous):
            self.action_space = spaces.Box(np.array([-1, 0, 0], np.float32), np.ones(3, np.float32))
        self.reset, self.observe, self.tell = simulation.begin, observe, tell
        self.step: Any = steer if continuous else choose

    def allocate(self) -> Simulation:
        """Return a simulation without a track."""
        return simulation.allocate(
            self.picture, self.variant, self.lap_complete_percent, self.domain_randomize, self.grass_cost
        )

    def prepare(self, states: Simulation, options: dict[str, Any]) -> None:
        """Take gymnasium's "randomize": whether the next episodes have new colours."""
        if options.keys() - {"randomize"}:
            raise expected("options", "none but randomize", options)
        states.randomize[...] = flag("randomize", options.get("randomize", True))

    def window(self, render_mode: str) -> Window:
        """Return gymnasium's drawing, without skid marks."""
        from mpi_es.worlds.car_racing import gymnasium_window  # needs Box2D

        return gymnasium_window.Window(render_mode, self.variant)


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
    """Draw the picture."""
    simulation.draw(state, out)


@compiled()
def tell(state: Simulation, out: NDArray[np.bool_]) -> None:
    """Return whether the lap was finished, or the car left the map."""
    out[0] = not race.is_off(state.world)
