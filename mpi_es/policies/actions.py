"""From a network's outputs to the actions of an environment."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.errors import expected
from mpi_es.policies.base import Actions
from mpi_es.policies.kernels.activations import tanh_all

Outputs = NDArray[np.float32]
ToActions = Callable[[Outputs], Actions]


def actions_for(space: Any, kind: str, policy: str, squashed: bool = False) -> tuple[int, ToActions]:
    """Return how many outputs a network needs, and the function outputs (k, n) -> actions (k, *shape).

    Args:
        kind: "argmax", "tanh" scaled to the bounds, "clip" to the bounds, or "auto": argmax for
            discrete actions, else tanh.
        squashed: whether the network itself ends with a tanh; its outputs are then only scaled.
    """
    if isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating):
        return _box(space, kind, squashed)
    for discrete, build in _DISCRETE.items():
        if isinstance(space, discrete):
            if kind not in ("auto", "argmax"):
                raise expected("--output", f"auto or argmax for the discrete actions {space}", kind)
            return build(space)
    kinds = "a Box of floats, Discrete, MultiDiscrete or MultiBinary"
    raise expected("--env", f"actions in {kinds} for --policy {policy}", space)


def _discrete(space: Any) -> tuple[int, ToActions]:
    start = int(space.start)
    return int(space.n), lambda outputs: outputs.argmax(axis=1) + start


def _multi_discrete(space: Any) -> tuple[int, ToActions]:
    ends = np.cumsum(space.nvec.ravel())

    def actions(outputs: Outputs) -> Any:
        best = [segment.argmax(axis=1) for segment in np.split(outputs, ends[:-1], axis=1)]
        chosen = np.stack(best, axis=1).reshape(-1, *space.shape) + space.start
        return chosen.astype(space.dtype)

    return int(ends[-1]), actions


def _multi_binary(space: Any) -> tuple[int, ToActions]:
    return int(np.prod(space.shape)), lambda outputs: (outputs > 0).reshape(-1, *space.shape).astype(np.int8)


_DISCRETE: dict[Any, Callable[[Any], tuple[int, ToActions]]] = {
    spaces.Discrete: _discrete,
    spaces.MultiDiscrete: _multi_discrete,
    spaces.MultiBinary: _multi_binary,
}


def _box(space: Any, kind: str, squashed: bool) -> tuple[int, ToActions]:
    size, shape, dtype = int(np.prod(space.shape)), space.shape, space.dtype
    low, high = space.low.ravel(), space.high.ravel()
    if kind == "clip":
        return size, lambda outputs: np.clip(outputs, low, high).astype(dtype).reshape(-1, *shape)
    if kind not in ("auto", "tanh"):
        raise expected("--output", f"auto, tanh or clip for the continuous actions (shape {shape})", kind)
    if not space.is_bounded():
        rule = f"clip for actions without bounds (shape {shape})"
        raise expected("--output", rule, kind, "use --output clip")
    middle, half = low / 2 + high / 2, high / 2 - low / 2  # halved first: a bound may be the largest float

    def actions(outputs: Outputs) -> Actions:
        scaled = (outputs.copy() if squashed else tanh_all(outputs)).astype(dtype, copy=False)
        scaled *= half
        scaled += middle
        np.maximum(scaled, low, out=scaled)  # rounding may exceed the bounds by one bit
        np.minimum(scaled, high, out=scaled)
        return scaled.reshape(-1, *shape)

    return size, actions
