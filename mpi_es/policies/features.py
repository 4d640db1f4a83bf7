"""From observations to the numbers that an mlp or a recurrent network reads."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.errors import expected

Features = NDArray[np.float32]
ToFeatures = Callable[[NDArray[Any]], Features]

LARGEST = 10_000  # numbers in an observation; a dense layer does not suit larger ones


def features_for(space: Any, policy: str) -> tuple[int, ToFeatures]:
    """Return how many numbers an observation has, and the function (k, *shape) -> (k, size)."""
    require_array(space, policy)
    if not isinstance(space, spaces.Box | spaces.Discrete):
        raise expected("--env", f"observations in a Box or Discrete for --policy {policy}", space)
    is_box = isinstance(space, spaces.Box)
    size = int(np.prod(space.shape) if is_box else space.n)  # a network reads one of n as n numbers
    if not 1 <= size <= LARGEST:
        rule = f"observations of 1 to {LARGEST} numbers for --policy {policy}"
        hint = "for pictures, use --policy attention or package.module:Class" if is_box else ""
        raise expected("--env", rule, space.shape if is_box else space, hint)
    return size, _flatten if is_box else _one_hot(size, int(space.start))


def require_array(space: Any, policy: str) -> None:
    """Refuse observations that do not stack to one array."""
    if not isinstance(space, spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        rule = f"observations that are one array for --policy {policy}"
        hint = "gymnasium.wrappers.FlattenObservation in the function of --env makes them one"
        raise expected("--env", rule, space, hint)


def _flatten(observations: NDArray[Any]) -> Features:
    rows = observations.reshape(len(observations), -1)
    return np.ascontiguousarray(rows, np.float32)  # with other strides BLAS would take another path


def _one_hot(n: int, start: int) -> ToFeatures:
    rows = np.eye(n, dtype=np.float32)

    def chosen(observations: NDArray[Any]) -> Features:
        if (observations < start).any():  # a negative index would count from the end
            raise expected("--env", f"observations from {start} on", int(observations.min()))
        hot: Features = rows[observations - start]
        return hot

    return chosen
