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
        """Close what is open on the screen."""
        ...


class World(Protocol):
    """An environment with its options. Several episodes are several states, which share nothing."""

    # (1,) the state before the first reset, with the options. A world whose state is no record, but a named
    # tuple of arrays, has a method `allocate` that returns one.
    fresh: NDArray[np.void]
    observation_space: Any  # gymnasium's, a Box
    action_space: Any  # gymnasium's, a Discrete or a Box of float32
    limit: int  # steps of an episode; 0 is none
    metadata: dict[str, Any]  # gymnasium's: render_modes, render_fps; if it has none, nothing is drawn

    # The functions, which are compiled.
    reset: Reset  # of a state; a negative seed goes on with the random numbers of the episode before
    step: Step  # takes the int64 of a Discrete or the float32 array (n,) of a Box: reward, whether it is over
    observe: Observe  # writes an array of the shape and dtype of the space

    # What a world may also have:
    # step_lanes(states, actions, rewards, overs, scratch), compiled: it does what `step` does for each of
    # several states, to the bit, with the working space scratch()[0];
    # facts, names of what an info tells of an episode that is over, and tell(state, out), compiled: it writes
    # them, true or false, into a bool array;
    # prepare(states, options): it takes the options of a reset before it, and none after it.

    def window(self, render_mode: str) -> Window:
        """Return what draws states: human or rgb_array."""
        ...


def new_state(world: Any) -> Any:
    """Return a state of a world before its first reset."""
    return world.allocate() if hasattr(world, "allocate") else world.fresh.copy()[0]


def new_states(world: Any, count: int) -> Any:
    """Return states of a world before their first resets, as mpi_es.jit.rows has them."""
    return repeat(new_state(world), count) if hasattr(world, "allocate") else np.repeat(world.fresh, count)


def facts_of(world: Any) -> tuple[str, ...]:
    """Return the names of what a world tells of an episode that is over."""
    return tuple(getattr(world, "facts", ()))


def tell_of(world: Any) -> Tell:
    """Return tell(state, out) of a world, which does nothing where it tells nothing."""
    tell: Tell = as_compiled(world.tell) if facts_of(world) else _tell_nothing
    return tell


@compiled()
def _tell_nothing(state: Any, out: NDArray[np.bool_]) -> None:
    """Write no facts."""


def prepare(world: Any, states: Any, options: dict[str, Any]) -> None:
    """Let a world take the options of a reset, if it has any."""
    if hasattr(world, "prepare"):
        world.prepare(states, options)
    elif options:
        raise expected("options", "none", options)


def has_lanes(world: Any) -> bool:
    """Tell whether one call steps several states of a world."""
    return hasattr(world, "step_lanes")


def new_scratch(world: Any) -> NDArray[Any]:
    """Return a working space (1,) for a world's step_lanes; a zero if it has none."""
    return np.asarray(world.scratch()) if has_lanes(world) else np.zeros(1)


def functions(world: World) -> tuple[Reset, Step, Observe]:
    """Return a world's functions, all as mpi_es.jit compiles them."""
    return as_compiled(world.reset), as_compiled(world.step), as_compiled(world.observe)


def metadata_of(world: World) -> dict[str, Any]:
    """Return a world's metadata; one of a user may have none."""
    return getattr(world, "metadata", {"render_modes": []})


def record(**fields: Any) -> NDArray[np.void]:
    """Return a record (1,) with these numbers and arrays."""
    arrays = {name: np.asarray(value) for name, value in fields.items()}
    kind = np.dtype([(name, a.dtype, a.shape) for name, a in arrays.items()], align=True)
    made = np.zeros(1, kind)
    for name, array in arrays.items():
        made[0][name] = array
    return made
