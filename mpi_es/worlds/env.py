"""gymnasium's environment of any world."""

import functools
import math
from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded
from numpy.typing import NDArray

from mpi_es.errors import expected
from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import row
from mpi_es.jit.warm_up import announced
from mpi_es.worlds.refused import explained
from mpi_es.worlds.user_world import check
from mpi_es.worlds.vector_arguments import seeds
from mpi_es.worlds.world import (
    Observe,
    Reset,
    Step,
    Tell,
    Window,
    World,
    facts_of,
    functions,
    metadata_of,
    new_states,
    prepare,
    tell_of,
)

CONTINUE = -1  # in place of a seed: continue the random numbers
_STEP = -2  # no episode begins


class WorldEnv(gym.Env[NDArray[Any], Any]):
    """A single environment of a world: an episode depends on its seed and actions only.

    Args:
        world: a world, or "package.module:Class" of one.
        render_mode: one of the world's.
        options: of the world's class.
    """

    compiled = True  # the first step takes long
    metadata = {"render_modes": ["human", "rgb_array", "ansi"]}  # noqa: RUF012  (of all worlds)

    def __init__(self, world: World | str, render_mode: str | None = None, **options: Any) -> None:
        self.world: World = made(world, options)
        self.render_mode, self.metadata = checked_mode(self.world, render_mode), metadata_of(self.world)
        self.observation_space, self.action_space = self.world.observation_space, self.world.action_space
        self.discrete = isinstance(self.action_space, gym.spaces.Discrete)
        self.world_limit, self._begun = self.world.limit, False
        self._states = new_states(self.world, 1)
        self._facts = np.zeros(len(facts_of(self.world)), np.bool_)
        self._prepare()

    def _prepare(self) -> None:
        """Make the parts that cannot be copied: a view of the state, and compiled code."""
        self.state = row(self._states, 0)
        self._turn = _turn_of(*functions(self.world), tell_of(self.world))

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes of a copy, which opens its own window."""
        own = ("state", "_turn", "_window")
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        """Set the attributes of a copy, and make the other parts."""
        self.__dict__.update(parts)
        self._prepare()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin an episode, with the seed or the next one."""
        prepare(self.world, self._states, options or {})
        super().reset(seed=seed)
        given = int(seeds(seed, 1)[0])
        if seed is None:
            given = CONTINUE if self._begun else int(self.np_random.integers(2**62))
        self._begun = True
        with announced(), explained(self.world):
            ignored = 0 if self.discrete else np.zeros(self.action_space.shape, np.float32)
            observation, _, _ = self._play(given, ignored)
        prepare(self.world, self._states, {})
        if self.render_mode == "human":
            self.render()
        return observation, {}

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Make a step."""
        if not self._begun:
            raise ResetNeeded("reset: expected a call before the first step")
        if self.discrete:
            if not self.action_space.contains(action):
                raise InvalidAction(f"expected an action in {self.action_space}, got {action!r}")
            given: Any = int(action)
        else:
            given = np.ascontiguousarray(action, np.float32)
            if given.shape != self.action_space.shape:
                raise InvalidAction(f"expected the shape {self.action_space.shape}, got {given.shape}")
            if not all(map(math.isfinite, given.tolist())):
                raise InvalidAction(f"expected finite numbers, got {action!r}")
        observation, reward, over = self._play(_STEP, given)
        if self.render_mode == "human":
            self.render()
        facts = dict(zip(facts_of(self.world), self._facts.tolist(), strict=True)) if over else {}
        return observation, reward, bool(over), False, facts

    def _play(self, seed: int, action: Any) -> tuple[NDArray[Any], float, bool]:
        space: Any = self.observation_space
        observation = np.empty(space.shape, space.dtype)
        reward, over = self._turn(self._states, seed, action, observation, self._facts)
        return observation, reward, over

    def render(self) -> Any:
        """Return the world's picture, or show it."""
        if self.render_mode is None:
            modes = " or ".join(self.metadata["render_modes"])
            gym.logger.warn(f"expected a render_mode when the environment was made: {modes}")
            return None
        return self._window.render(self.state)

    @functools.cached_property
    def _window(self) -> Window:
        assert self.render_mode is not None
        return self.world.window(self.render_mode)

    def close(self) -> None:
        """Close the window."""
        if "_window" in self.__dict__:
            self._window.close()


@functools.cache
def _turn_of(reset: Reset, step: Step, observe: Observe, tell: Tell) -> Any:
    """Return turn(states, seed, action, out, facts) -> reward, over: begin an episode, or make a step."""

    # An array of one state: for a single record numba takes 8 us to find its type.
    @compiled()
    def turn(
        states: Any, seed: int, action: Any, out: NDArray[Any], facts: NDArray[np.bool_]
    ) -> tuple[float, bool]:
        state, reward, over = row(states, 0), 0.0, False
        if seed == _STEP:
            reward, over = step(state, action)
        else:
            reset(state, seed)
        observe(state, out)
        if over:
            tell(state, facts)
        return reward, over

    return turn


def made(world: World | str, options: dict[str, Any]) -> World:
    """Return a world; make it if the name of its class is given."""
    if not isinstance(world, str):
        if options:
            raise expected("options", "none with a world instead of its class", options)
        chosen, named = world, f"{type(world).__module__}:{type(world).__name__}"
    else:
        module, _, name = world.partition(":")
        chosen, named = getattr(import_module(module), name)(**options), world
    check(chosen, named)
    return chosen


def checked_mode(world: World, render_mode: str | None, shown: bool = True) -> str | None:
    """Return a render mode that the world has, or None.

    Args:
        shown: whether human, on the screen, is allowed too.
    """
    modes = [mode for mode in metadata_of(world)["render_modes"] if shown or mode != "human"]
    if render_mode is not None and render_mode not in modes:
        hint = "" if modes else "a world needs metadata and window to be drawn"
        raise expected("render_mode", f"one of {', '.join(modes)}" if modes else "none", render_mode, hint)
    return render_mode
