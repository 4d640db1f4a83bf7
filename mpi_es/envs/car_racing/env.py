"""mpi_es/CarRacing-v3: gymnasium's CarRacing-v3, fifty times faster."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from mpi_es.envs.car_racing import simulation, variants
from mpi_es.envs.car_racing.gymnasium_window import Window
from mpi_es.envs.car_racing.physics.race import randomize_colours
from mpi_es.envs.car_racing.picture.sizes import SIDE
from mpi_es.envs.car_racing.simulation import begin_streams
from mpi_es.envs.car_racing.state import PLAYFIELD
from mpi_es.errors import expected, unknown

# What gymnasium's discrete actions do: nothing, right, left, gas, brake.
_DISCRETE = ((0.0, 0.0, 0.0), (0.6, 0.0, 0.0), (-0.6, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.8))

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
        for name, value in (("domain_randomize", domain_randomize), ("continuous", continuous)):
            if not isinstance(value, bool):
                raise expected(f"--env-options {name}", "True or False", value)
        for name, number in (("lap_complete_percent", lap_complete_percent), ("grass_cost", grass_cost)):
            if not isinstance(number, float | int):
                raise expected(f"--env-options {name}", "a number", number)
        picture, variant = str(picture), str(variant)
        if picture not in simulation.PICTURES:
            raise unknown("--env-options picture", picture, simulation.PICTURES)
        if variant not in variants.NAMES:
            raise unknown("--env-options variant", variant, variants.NAMES)
        self.render_mode = render_mode
        self.continuous = continuous
        self.choices = (picture, variant, lap_complete_percent, domain_randomize, grass_cost)
        self.simulation = simulation.allocate(*self.choices)
        self.window = Window(render_mode, variant) if render_mode else None
        low, high = np.array([-1, 0, 0], np.float32), np.ones(3, np.float32)
        self.action_space = spaces.Box(low, high) if continuous else spaces.Discrete(len(_DISCRETE))
        self.observation_space = spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)
        parts = self.simulation
        begin_streams(parts, int(self.np_random.integers(2**62)))  # for a first episode without a seed
        if domain_randomize:  # for a first episode with options["randomize"] False
            randomize_colours(parts.world, parts.physics, parts.generator)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin an episode: that of the seed, or the next one. `options["randomize"]` is gymnasium's."""
        super().reset(seed=seed)
        parts = self.simulation
        if seed is not None:
            begin_streams(parts, seed)
        simulation.proceed(parts, parts.randomized and (options or {}).get("randomize", True))
        if self.render_mode == "human":
            self.render()
        return parts.picture.copy(), {}

    def step(self, action: Any) -> Step:
        """Drive for a fiftieth of a second."""
        if self.continuous:
            steer, gas, brake = (float(number) for number in action)
        elif not self.action_space.contains(action):
            raise InvalidAction(f"expected an action in {self.action_space}, got {action!r}")
        else:
            steer, gas, brake = _DISCRETE[int(action)]
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
