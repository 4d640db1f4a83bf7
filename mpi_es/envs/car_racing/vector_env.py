"""gymnasium.make_vec("mpi_es/CarRacing-v3", num_envs): all cars are stepped in one call of compiled code."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from mpi_es.envs.car_racing import attributes, cars, machine_code, simulation
from mpi_es.envs.car_racing.options import DISCRETE, action_space, checked, observation_space
from mpi_es.errors import expected
from mpi_es.jit.rows import row
from mpi_es.worlds.options import step_limit
from mpi_es.worlds.shares import Shares
from mpi_es.worlds.vector_arguments import autoreset, counts, reset_mask, seeds

Step = tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class CarRacingVectorEnv(VectorEnv[NDArray[np.uint8], Any, NDArray[Any]]):
    """Several cars, each on its own track: what the environment alone does with their seeds and actions.

    Args:
        num_envs: the number of cars.
        max_episode_steps: as gymnasium.make's, steps of 1/50 s; -1 is no limit.
        autoreset_mode: gymnasium's NextStep, SameStep or Disabled.
        threads: that step the cars, outside the interpreter's lock.
        frame_skip: steps of 1/50 s for which an action is repeated; their rewards are added, and the last is
            drawn.
        frame_stack: the number of pictures in an observation (frame_stack, 96, 96, 3), if more than one.
        render_mode: rgb_array, which gymnasium's own drawing does.
        picture: this and the following as of the environment alone.
    """

    def __init__(
        self,
        num_envs: int = 1,
        max_episode_steps: int | None = 1000,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        frame_skip: int = 1,
        frame_stack: int = 1,
        render_mode: str | None = None,
        lap_complete_percent: float = 0.95,
        domain_randomize: bool = False,
        continuous: bool = True,
        picture: str = "close",
        variant: str = "plain",
        grass_cost: float = 0.0,
    ) -> None:
        counts(num_envs=num_envs, threads=threads, frame_skip=frame_skip, frame_stack=frame_stack)
        if render_mode not in (None, "rgb_array"):
            raise expected("render_mode", "rgb_array or None", render_mode)
        choices = checked(picture, variant, lap_complete_percent, domain_randomize, continuous, grass_cost)
        self.num_envs, self.render_mode, self.continuous = num_envs, render_mode, continuous
        self.limit = step_limit(max_episode_steps, 1000)  # as registered
        self.frame_skip, self.mode = frame_skip, autoreset(autoreset_mode)
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": 50, "autoreset_mode": self.mode}
        self.single_action_space = action_space(continuous)
        self.single_observation_space = observation_space(frame_stack)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.choices, self.frame_stack = choices, frame_stack
        self.shares = Shares(num_envs, threads)
        self.same_step = self.mode == AutoresetMode.SAME_STEP
        race = simulation.allocate(*choices)
        self.cars = cars.allocate(race, num_envs, self.shares.threads, frame_stack, self.same_step)
        self.begun = np.zeros(num_envs, np.bool_)  # it has had an episode
        self.over = np.zeros(num_envs, np.bool_)  # its episode ended in the last step

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin episodes of all cars, or of those in options["reset_mask"] (num_envs,).

        Args:
            seed: of the first car, and the following of the others; or one for each car, None for its next
                episode.
            options: also gymnasium's "randomize".
        """
        given = options or {}
        mask, chosen = reset_mask(given.get("reset_mask"), self.num_envs), seeds(seed, self.num_envs)
        fresh = mask & ~self.begun
        self.cars.entropy[fresh] = self.np_random.integers(2**62, size=fresh.sum())
        self.cars.seeds[mask] = chosen[mask]
        super().reset(seed=seed if isinstance(seed, int) else None)
        machine_code.have_for_several(self.choices.picture)
        self.cars.order[:] = np.where(mask, cars.BEGIN, cars.WAIT)
        observations = self._advance(bool(given.get("randomize", True)))
        self.begun |= mask
        self.over &= ~mask
        return observations, {}

    def step(self, actions: Any) -> Step:
        """Drive all cars; an action is one of the environment alone for each."""
        if not self.begun.all():
            raise ResetNeeded("reset: expected a call before the first step")
        if self.mode == AutoresetMode.DISABLED and self.over.any():
            ended = ", ".join(map(str, np.flatnonzero(self.over)))
            raise ResetNeeded(f"reset: expected a call for the cars whose episodes are over: {ended}")
        self.cars.actions[:] = self._numbers(actions)
        begins = self.over & (self.mode == AutoresetMode.NEXT_STEP)
        self.cars.order[:] = np.where(begins, cars.BEGIN, cars.DRIVE)
        observations = self._advance(randomize=True)
        terminated, truncated = self.cars.terminated.copy(), self.cars.truncated.copy()
        self.over = terminated | truncated
        return observations, self.cars.rewards.copy(), terminated, truncated, self._infos()

    def _advance(self, randomize: bool) -> NDArray[np.uint8]:
        """Let the cars carry out their orders, a share in each thread; return the observations."""
        shape = (self.num_envs, self.frame_stack, *self.cars.recent.shape[2:])
        observations = np.empty(shape, np.uint8)
        rules = cars.Rules(self.frame_skip, self.limit, self.same_step, randomize)
        self.shares.run(partial(cars.advance, self.cars, rules, observations))
        return observations if self.frame_stack > 1 else observations[:, 0]

    def _infos(self) -> dict[str, Any]:
        """Return what gymnasium's SyncVectorEnv makes of the infos of the environments alone."""
        infos: dict[str, Any] = {}
        for i in np.flatnonzero(self.over).tolist():
            info: dict[str, Any] = {}
            if self.cars.terminated[i]:
                info["lap_finished"] = bool(self.cars.lap_finished[i])
            if self.same_step:
                final = self.cars.finals[i].copy()
                info = {"final_obs": final if self.frame_stack > 1 else final[0], "final_info": info}
            infos = self._add_info(infos, info, i)
        return infos

    def _numbers(self, actions: Any) -> NDArray[np.float64]:
        """Return steering, gas and brake (num_envs, 3)."""
        shape = self.action_space.shape
        given = np.asarray(actions)
        if given.shape != shape:
            raise InvalidAction(f"expected actions of the shape {shape}, got {given.shape}")
        if self.continuous:
            numbers = given.astype(np.float64)
            if not np.isfinite(numbers).all():
                raise InvalidAction(f"expected finite numbers, got {actions!r}")
            return numbers
        if given.dtype.kind not in "iu" or ((given < 0) | (given >= len(DISCRETE))).any():
            raise InvalidAction(f"expected actions in {self.single_action_space}, got {actions!r}")
        chosen: NDArray[np.float64] = DISCRETE[given]
        return chosen

    # What wrappers read of gymnasium's environment, here (num_envs, …)
    car = attributes.read_only(attributes.car, "cars.races")
    t = attributes.read_only(attributes.t, "cars.races")
    reward = attributes.read_only(attributes.reward, "cars.races")
    prev_reward = attributes.read_only(attributes.prev_reward, "cars.races")
    tile_visited_count = attributes.read_only(attributes.tile_visited_count, "cars.races")

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return what the environment alone has under that name, of each car: also track and road_poly."""
        if name == "render_mode":
            return (self.render_mode,) * self.num_envs
        if name not in attributes.OF_ONE_RACE:
            raise AttributeError(f"expected one of {', '.join(attributes.OF_ONE_RACE)}, got {name!r}")
        scratch: Any = {"close": None, "exact": None, "panel": None}  # of the threads
        races = self.cars.races._replace(**scratch)
        return tuple(attributes.OF_ONE_RACE[name](row(races, i)) for i in range(self.num_envs))

    def render(self) -> tuple[Any, ...] | None:
        """Return gymnasium's picture for people of each car."""
        if self.render_mode is None:
            gym.logger.warn("expected render_mode='rgb_array' when the environment was made")
            return None
        worlds = [row(self.cars.races.world, i) for i in range(self.num_envs)]
        return tuple(window.render(world) for window, world in zip(self._windows, worlds, strict=True))

    @cached_property
    def _windows(self) -> list[Any]:
        from mpi_es.envs.car_racing.gymnasium_window import Window  # needs Box2D

        return [Window("rgb_array", self.choices.variant) for _ in range(self.num_envs)]

    def close_extras(self) -> None:
        """End the threads and close gymnasium's windows."""
        self.shares.close()
        for window in self.__dict__.get("_windows", ()):
            window.close()
