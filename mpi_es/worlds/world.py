"""The protocol of worlds: an environment as a few compiled functions over one record of plain numbers."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import expected
from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import repeat
from mpi_es.worlds.user_world import as_compiled

Reset = Callable[[Any, int], None]  # (state, seed)
Step = Callable[[Any, Any], tuple[float, bool]]  # (state, action)
Observe = Callable[[Any, NDArray[Any]], None]  # (state, out)
Tell = Callable[[Any, NDArray[np.bool_]], None]  # (state, out)


class Window(Protocol):
    """Draws states for people."""

    def render(self, state: Any) -> Any:
        """Return the picture (height, width, 3) of a state, or show it."""
        ...

    def close(self) -> None:
        """Close the window, if one is open."""
        ...


class World(Protocol):
    """An environment with its options. Each running episode has its own state; states share nothing."""

    # (1,) the state before the first reset, with the options. A world whose state is not a record but a named
    # tuple of arrays has a method `allocate` that returns one instead.
    fresh: NDArray[np.void]
    observation_space: Any  # gymnasium's, a Box
    action_space: Any  # gymnasium's, a Discrete or a Box of float32
    limit: int  # steps of an episode; 0 is none
    metadata: dict[str, Any]  # gymnasium's: render_modes, render_fps; without it nothing can be drawn

    # The compiled functions.
    reset: Reset  # of a state; a negative seed continues the random numbers of the last episode
    step: Step  # takes an int64 (Discrete) or a float32 array (n,) (Box); returns reward, over
    observe: Observe  # writes an observation into an array of the space's shape and dtype

    # Optional members of a world:
    # step_lanes(states, actions, rewards, overs, scratch), compiled: steps several states, bit-identical to
    # `step`, with the working space scratch()[0];
    # facts, names of entries in the info of an episode that is over, and tell(state, out), compiled, which
    # writes them, true or false, into a bool array;
    # prepare(states, options): called before each reset with its options, and after it with none.

    def window(self, render_mode: str) -> Window:
        """Return the object that draws states, in the mode human or rgb_array."""
        ...


def new_state(world: Any) -> Any:
    """Return a state of a world before its first reset."""
    return world.allocate() if hasattr(world, "allocate") else world.fresh.copy()[0]


def new_states(world: Any, count: int) -> Any:
    """Return states of a world before their first resets, as rows (mpi_es.jit.rows)."""
    return repeat(new_state(world), count) if hasattr(world, "allocate") else np.repeat(world.fresh, count)


def facts_of(world: Any) -> tuple[str, ...]:
    """Return the names of a world's facts about an episode that is over."""
    return tuple(getattr(world, "facts", ()))


def tell_of(world: Any) -> Tell:
    """Return tell(state, out) of a world, which does nothing if the world has no facts."""
    tell: Tell = as_compiled(world.tell) if facts_of(world) else _tell_nothing
    return tell


@compiled()
def _tell_nothing(state: Any, out: NDArray[np.bool_]) -> None:
    """Write no facts."""


def prepare(world: Any, states: Any, options: dict[str, Any]) -> None:
    """Pass the options of a reset to a world; refuse options that it does not take."""
    if hasattr(world, "prepare"):
        world.prepare(states, options)
    elif options:
        raise expected("options", "none", options)


def has_lanes(world: Any) -> bool:
    """Return whether one call steps several states of a world."""
    return hasattr(world, "step_lanes")


def new_scratch(world: Any) -> NDArray[Any]:
    """Return a working space (1,) for a world's step_lanes; a zero if it needs none."""
    return np.asarray(world.scratch()) if has_lanes(world) else np.zeros(1)


def functions(world: World) -> tuple[Reset, Step, Observe]:
    """Return a world's functions, all as mpi_es.jit compiles them."""
    return as_compiled(world.reset), as_compiled(world.step), as_compiled(world.observe)


def metadata_of(world: World) -> dict[str, Any]:
    """Return a world's metadata; a user's world may have none."""
    return {**getattr(world, "metadata", {"render_modes": []})}


def record(**fields: Any) -> NDArray[np.void]:
    """Return a record (1,) with these numbers and arrays."""
    arrays = {name: np.asarray(value) for name, value in fields.items()}
    kind = np.dtype([(name, a.dtype, a.shape) for name, a in arrays.items()], align=True)
    made = np.zeros(1, kind)
    for name, array in arrays.items():
        made[0][name] = array
    return made
