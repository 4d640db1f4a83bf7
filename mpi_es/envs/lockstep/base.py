"""The interface of environments to a rollout: episodes begin, are stepped together, and end."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import expected, one_line, warn

Places = NDArray[np.int64]  # (k,), one for each running episode of a batch


class EpisodeFailed(Exception):
    """An environment raised an exception, which is this one's __cause__."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index  # of the episode, in the arguments of the call


class EnvBatch(Protocol):
    """Environments of one kind. An episode depends on its seed and its actions only."""

    observation_space: Any  # of one environment
    action_space: Any
    limit: int  # steps of an episode; 0 is none
    steps_together: bool  # one call steps several; several episodes begin as fast as one

    def begin(self, seeds: Sequence[int]) -> tuple[Places, NDArray[Any]]:
        """Begin an episode for each seed; return their places, and the observations (k, …)."""
        ...

    def step(
        self, places: Places, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
        """Make a step of these episodes; return observations (k, …), rewards and whether each is over."""
        ...

    def end(self, places: Places) -> None:
        """Free the places of episodes that are over or cut."""
        ...

    def clear(self) -> None:
        """Free all places."""
        ...

    def compile(self) -> None:
        """Compile all machine code now."""
        ...

    def close(self) -> None:
        """Close the environments."""
        ...


def check_observation(space: Any, observation: NDArray[Any]) -> None:
    """Refuse an observation that numpy would silently fit into the space: by broadcasting, by rounding, or by
    wrapping around.
    """
    shape, dtype = space.shape or (), space.dtype
    if observation.shape != shape or not np.can_cast(observation.dtype, dtype, "same_kind"):
        rule = f"observations of its space, of the shape {shape} and {dtype}"
        raise expected("--env", rule, f"{observation.shape} and {observation.dtype}")


def close(*envs: Any) -> None:
    """Close environments of gymnasium or a user; an exception becomes a warning, since the work is done."""
    errors: list[BaseException] = []
    for env in envs:
        try:
            env.close()
        except (Exception, SystemExit) as error:  # a simulator may call exit
            errors.append(error)
    if errors:
        warn(f"an environment cannot be closed: {one_line(errors[0])}")
