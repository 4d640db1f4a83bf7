"""mpi_es/CarRacing-v3: gymnasium's CarRacing-v3, fifty times faster."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from mpi_es.envs.car_racing import attributes, machine_code, simulation
from mpi_es.envs.car_racing.options import DISCRETE, checked
from mpi_es.envs.car_racing.physics.race import randomize_colours
from mpi_es.envs.car_racing.simulation import begin_streams
from mpi_es.envs.car_racing.state import PLAYFIELD
from mpi_es.envs.car_racing.world import CarRacingWorld

Step = tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]


class CarRacing(gym.Env[NDArray[np.uint8], Any]):
    """The same tracks, rewards and ends as gymnasium's for the same seed and actions, to the bit.

    Args:
        render_mode: human or rgb_array, which gymnasium's own drawing does (without skid marks).
        lap_complete_percent: as gymnasium's.
        domain_randomize: as gymnasium's.
        continuous: as gymnasium's.
        picture: "exact" observes gymnasium's pixels; "close" observes pixels that hardly differ and takes a
            fraction of the time.
        variant: plain, or the paper's color, bars or blob.
        grass_cost: what each wheel off the road takes from a step's reward.
    """

    compiled = True  # the first step takes long
    metadata = {"render_modes": ["human", "rgb_array"], "render_fps": 50}  # noqa: RUF012  (gymnasium's)

    def __init__(
        self,
        render_mode: str | None = None,
        lap_complete_percent: float = 0.95,
        domain_randomize: bool = False,
        continuous: bool = True,
        picture: str = "close",
        variant: str = "plain",
        grass_cost: float = 0.0,
    ) -> None:
        self.choices = checked(
            picture, variant, lap_complete_percent, domain_randomize, continuous, grass_cost
        )
        self.render_mode, self.continuous, self.begun = render_mode, continuous, False
        self.world = CarRacingWorld(self.choices, continuous)
        self.simulation = self.world.allocate()
        self.window = _window(render_mode, variant) if render_mode else None
        self.action_space, self.observation_space = self.world.action_space, self.world.observation_space

    # What wrappers read of gymnasium's environment
    car = attributes.read_only(attributes.car, "simulation")
    t = attributes.read_only(attributes.t, "simulation")
    reward = attributes.read_only(attributes.reward, "simulation")
    prev_reward = attributes.read_only(attributes.prev_reward, "simulation")
    tile_visited_count = attributes.read_only(attributes.tile_visited_count, "simulation")
    track = attributes.read_only(attributes.track, "simulation")
    road_poly = attributes.read_only(attributes.road_poly, "simulation")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin an episode: that of the seed, or the next one. `options["randomize"]` is gymnasium's."""
        machine_code.have_for_one(self.choices.picture)
        parts = self.simulation
        if not self.begun:
            self._begin_streams()
        super().reset(seed=seed)
        if seed is not None:
            begin_streams(parts, seed)
        simulation.proceed(parts, parts.randomized and (options or {}).get("randomize", True))
        if self.render_mode == "human":
            self.render()
        return parts.picture.copy(), {}

    def _begin_streams(self) -> None:
        """Be ready for a first episode without a seed, or one with options["randomize"] False."""
        parts, self.begun = self.simulation, True
        begin_streams(parts, int(self.np_random.integers(2**62)))
        if parts.randomized:
            randomize_colours(parts.world, parts.physics, parts.generator)

    def step(self, action: Any) -> Step:
        """Drive for a fiftieth of a second."""
        if self.continuous:
            steer, gas, brake = (float(number) for number in action)
        elif not self.action_space.contains(action):
            raise InvalidAction(f"expected an action in {self.action_space}, got {action!r}")
        else:
            steer, gas, brake = DISCRETE[int(action)].tolist()
        reward, over = simulation.drive(self.simulation, steer, gas, brake)
        if self.render_mode == "human":
            self.render()
        return self.simulation.picture.copy(), reward, over, False, self._info(over)

    def _info(self, over: bool) -> dict[str, Any]:
        """Return gymnasium's info at the end of an episode."""
        if not over:
            return {}
        x, y = self.simulation.world.transforms[0, :2]
        return {"lap_finished": bool(abs(x) <= PLAYFIELD and abs(y) <= PLAYFIELD)}

    def render(self) -> Any:
        """Return gymnasium's picture for people, or show it."""
        if self.window is None:
            gym.logger.warn("expected a render_mode when the environment was made: human or rgb_array")
            return None
        return self.window.render(self.simulation.world)

    def close(self) -> None:
        """Close the window."""
        if self.window is not None:
            self.window.close()


def _window(render_mode: str, variant: str) -> Any:
    from mpi_es.envs.car_racing.gymnasium_window import Window  # needs Box2D

    return Window(render_mode, variant)
