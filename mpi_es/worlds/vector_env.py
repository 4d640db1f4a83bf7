"""gymnasium's VectorEnv of any world: one call of compiled code steps all its environments."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from mpi_es.jit.rows import row, rows
from mpi_es.jit.warm_up import announced
from mpi_es.worlds import several
from mpi_es.worlds.env import checked_mode, made
from mpi_es.worlds.options import step_limit
from mpi_es.worlds.refused import explained
from mpi_es.worlds.shares import Shares
from mpi_es.worlds.vector_arguments import autoreset, counts, reset_mask, seeds
from mpi_es.worlds.world import World, facts_of, metadata_of, prepare

Step = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class WorldVectorEnv(VectorEnv[NDArray[Any], Any, NDArray[Any]]):
    """Several environments of a world: each behaves like a WorldEnv with its seeds and actions.

    Args:
        world: a world, or "package.module:Class" of one.
        max_episode_steps: as in gymnasium.make; -1 is no limit.
        autoreset_mode: gymnasium's NextStep, SameStep or Disabled.
        threads: that step the environments without the GIL.
        frame_skip: steps for which an action is repeated; rewards are summed, only the last step is observed.
        frame_stack: if above 1, the number of last observations in one, (frame_stack, …).
        render_mode: rgb_array, or another that opens no window.
        options: of the world's class.
    """

    def __init__(
        self,
        world: World | str,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        frame_skip: int = 1,
        frame_stack: int = 1,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        counts(num_envs=num_envs, threads=threads, frame_skip=frame_skip, frame_stack=frame_stack)
        self.world = made(world, options)
        self.num_envs, self.mode = num_envs, autoreset(autoreset_mode)
        self.render_mode = checked_mode(self.world, render_mode, shown=False)
        self.metadata = metadata_of(self.world) | {"autoreset_mode": self.mode}
        self.single_action_space = self.world.action_space
        self.single_observation_space = self.world.observation_space
        if frame_stack > 1:
            self.single_observation_space = batch_space(self.world.observation_space, frame_stack)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.rules = several.Rules(
            frame_skip,
            limit=step_limit(max_episode_steps, self.world.limit),
            begin_at_once=self.mode == AutoresetMode.SAME_STEP,
        )
        self.envs = several.allocate(self.world, num_envs, frame_stack, self.rules.begin_at_once)
        self.shares = Shares(num_envs, threads)
        self._divide()
        self.begun = np.zeros(num_envs, np.bool_)  # it has had an episode
        self.over = np.zeros(num_envs, np.bool_)  # its episode ended in the last step

    def _divide(self) -> None:
        """Make the views of the environments' arrays, which no copy can have: a part for each thread."""
        self._parts = [self.envs]
        if self.shares.threads > 1:
            self._parts = [rows(self.envs, first, last) for first, last, _ in self.shares.parts]

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has; it opens windows of its own."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_parts", "_windows")}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        """Become the copy."""
        self.__dict__.update(parts)
        self._divide()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin episodes of all environments, or of those in options["reset_mask"] (num_envs,).

        Args:
            seed: of the first environment, the others get the following ones; or one for each, None to
                continue the random numbers.
            options: of each environment, and reset_mask.
        """
        chosen = dict(options or {})
        mask = reset_mask(chosen.pop("reset_mask", None), self.num_envs)
        prepare(self.world, self.envs.states, chosen)
        given = seeds(seed, self.num_envs)
        first = mask & ~self.begun & (given < 0)
        given[first] = self.np_random.integers(2**62, size=first.sum())
        super().reset(seed=int(seed) if isinstance(seed, int | np.integer) else None)
        self.envs.seeds[mask] = given[mask]
        self.envs.order[:] = np.where(mask, several.BEGIN, several.WAIT)
        with announced(), explained(self.world):
            observations = self._advance()
        prepare(self.world, self.envs.states, {})
        self.begun |= mask
        self.over &= ~mask
        return observations, {}

    def step(self, actions: Any) -> Step:
        """Step all environments, each with its own action."""
        if not self.begun.all():
            raise ResetNeeded("reset: expected a call before the first step")
        if self.mode == AutoresetMode.DISABLED and self.over.any():
            ended = ", ".join(map(str, np.flatnonzero(self.over)))
            raise ResetNeeded(f"reset: expected a call for the environments whose episodes are over: {ended}")
        begins = self.over & (self.mode == AutoresetMode.NEXT_STEP)
        self.envs.actions[~begins] = self._checked(actions, ~begins)
        self.envs.order[:] = np.where(begins, several.BEGIN, several.STEP)
        observations = self._advance()
        terminated, truncated = self.envs.terminated.copy(), self.envs.truncated.copy()
        self.over = terminated | truncated
        return observations, self.envs.rewards.copy(), terminated, truncated, self._infos()

    def _checked(self, actions: Any, used: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the actions that are used, as an array; refuse invalid ones."""
        space, given = self.single_action_space, np.asarray(actions)
        if isinstance(space, gym.spaces.Box):
            with np.errstate(over="ignore"):
                given = given.astype(np.float32, copy=False)  # in which a number may be infinite
        if given.shape != self.action_space.shape:
            raise InvalidAction(f"expected actions of the shape {self.action_space.shape}, got {given.shape}")
        given = given[used]
        if isinstance(space, gym.spaces.Discrete):
            out = (given < space.start) | (given >= space.start + space.n)
            if given.dtype.kind not in "iu" or out.any():
                raise InvalidAction(f"expected actions in {space}, got {actions!r}")
        elif not np.isfinite(given).all():
            raise InvalidAction(f"expected finite numbers, got {actions!r}")
        return given

    def _advance(self) -> NDArray[Any]:
        """Execute the orders of all environments, a share in each thread; return the observations."""
        observations = np.empty_like(self.envs.recent)
        advance = several.advance_of(self.world)

        def work(first: int, last: int, thread: int) -> None:
            advance(self._parts[thread], self.rules, observations[first:last])

        self.shares.run(work)
        return observations.reshape(self.observation_space.shape or ())

    def _infos(self) -> dict[str, Any]:
        """Return the infos in the form of gymnasium's SyncVectorEnv."""
        infos: dict[str, Any] = {}
        names = facts_of(self.world)
        for i in np.flatnonzero(self.over).tolist() if names or self.rules.begin_at_once else ():
            info: dict[str, Any] = {}
            if self.envs.terminated[i]:
                info = dict(zip(names, self.envs.facts[i].tolist(), strict=True))
            if self.rules.begin_at_once:
                final = self.envs.finals[i].reshape(self.single_observation_space.shape or ())
                info = {"final_obs": final.copy(), "final_info": info}
            infos = self._add_info(infos, info, i)
        return infos

    def render(self) -> tuple[Any, ...] | None:
        """Return the picture of each environment."""
        if self.render_mode is None:
            gym.logger.warn("expected a render_mode when the environment was made")
            return None
        states = (row(self.envs.states, i) for i in range(self.num_envs))
        return tuple(window.render(state) for window, state in zip(self._windows, states, strict=True))

    @cached_property
    def _windows(self) -> list[Any]:
        assert self.render_mode is not None
        return [self.world.window(self.render_mode) for _ in range(self.num_envs)]

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads and close the windows."""
        self.shares.close()
        for window in self.__dict__.get("_windows", ()):
            window.close()
