"""The algorithms of Stable-Baselines3, their hyperparameters, and how a new value takes effect.

The constructors of most algorithms copy their arguments into schedules and buffers. So setting the attribute
of the same name later has no effect.
"""

import importlib.util
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mpi_es.config.user_objects import load_module
from mpi_es.errors import expected, unknown
from pbt.explore import Hyperparameter
from pbt.members.sb3.state import optimizers

_BOTH = (
    Hyperparameter("learning_rate", 1e-5, 1e-2, "log"),
    Hyperparameter("gamma", 0.8, 0.9995, "complement"),
)
_ON_POLICY = (
    Hyperparameter("gae_lambda", 0.8, 0.995, "complement"),
    Hyperparameter("ent_coef", 1e-5, 0.1, "log"),
    Hyperparameter("vf_coef", 0.1, 1),
    Hyperparameter("clip_range", 0.05, 0.4),
    Hyperparameter("n_epochs", 1, 20, integer=True),
)
# Arguments that pbt sets: where and how the algorithm runs, and a replay buffer that keeps next observations.
_SET_BY_PBT = {"self", "env", "seed", "device", "verbose", "tensorboard_log", "optimize_memory_usage"}
# Not for DQN: it copies its whole target network, with a tau of 1.
_OFF_POLICY = (Hyperparameter("tau", 1e-3, 0.1, "log"),)
SCHEDULES = ("lr_schedule", "exploration_schedule")  # made from numbers when an algorithm is loaded
_NOISE = (Hyperparameter("action_noise", 0.01, 0.5, "log"),)
_NEED_NOISE = ("DDPG", "TD3")  # their policies are deterministic
_DQN = (Hyperparameter("exploration", 0.01, 0.5, "log"),)  # instead of a schedule over the whole run


def find(name: str) -> Any:
    """Return the algorithm's class, from stable_baselines3 or sb3_contrib."""
    module = load_module("--algorithm", "stable_baselines3")
    found = _algorithms(module)
    if importlib.util.find_spec("sb3_contrib"):
        found |= _algorithms(load_module("--algorithm", "sb3_contrib"))
    if name not in found:
        raise unknown("--algorithm", name, found)
    if "action_masks" in inspect.signature(found[name].predict).parameters:
        raise expected("--algorithm", "one without action masks, which scores would ignore", name)
    return found[name]


def _algorithms(module: Any) -> dict[str, Any]:
    from stable_baselines3.common.base_class import BaseAlgorithm

    classes = {name: value for name, value in vars(module).items() if isinstance(value, type)}
    return {name: value for name, value in classes.items() if issubclass(value, BaseAlgorithm)}


def declared(name: str) -> list[Hyperparameter]:
    """Return the hyperparameters of an algorithm: those that its constructor takes."""
    known = set(inspect.signature(find(name)).parameters)
    if name.endswith("DQN"):
        return [*_BOTH, *_DQN]
    candidates = [*_BOTH, *(_ON_POLICY if "gae_lambda" in known else _OFF_POLICY)]
    candidates += _NOISE if name in _NEED_NOISE else ()
    return [one for one in candidates if one.name in known]


def check_options(name: str, options: dict[str, Any]) -> None:
    """Refuse an option that the algorithm's constructor does not take."""
    known = {one for one in inspect.signature(find(name)).parameters if not one.startswith("_")} - _SET_BY_PBT
    for option in options:
        if option not in known:
            raise unknown(f"--member-options, of {name}", option, known)
    sigma = options.get("action_noise", 0)
    if not isinstance(sigma, int | float) or not sigma >= 0:
        raise expected("--member-options action_noise", "a standard deviation", sigma)


def noise(space: Any, sigma: float) -> Any:
    """Return the noise on the actions of a space; the algorithms scale actions to [-1, 1]."""
    from stable_baselines3.common.noise import NormalActionNoise

    return NormalActionNoise(np.zeros(space.shape), np.full(space.shape, sigma))


def unbind(model: Any) -> None:
    """Replace the schedules, which can be unpickled only with this package, by numbers."""
    for name, value in vars(model).items():
        if isinstance(value, Constant) and name not in SCHEDULES:
            setattr(model, name, value.value)


def apply(model: Any, values: dict[str, float]) -> None:
    """Make the model train with these values; it keeps its own for the other hyperparameters."""
    normalizer = model.get_vec_normalize_env()
    if normalizer is not None:
        # ARS has no gamma; the loop below may replace it.
        normalizer.gamma = getattr(model, "gamma", normalizer.gamma)
    for name, value in values.items():
        _SETTERS.get(name, _set_everywhere)(model, name, value)


def read(model: Any, name: str, wanted: float) -> float:
    """Return the value that the model trains with; if copies differ, one that is not the wanted value."""
    copies = [float(value) for value in _READERS.get(name, _read_everywhere)(model, name)]
    return next((value for value in copies if value != wanted), wanted if copies else math.nan)


def _holders(model: Any, name: str) -> list[Any]:
    """Return the model and its parts that have an attribute of this name."""
    buffers = (getattr(model, "rollout_buffer", None), getattr(model, "replay_buffer", None))
    parts = (model, *buffers, model.get_vec_normalize_env())
    return [part for part in parts if hasattr(part, name)]


def _set_everywhere(model: Any, name: str, value: float) -> None:
    """Set an attribute of the model and of its parts that have a copy."""
    if not hasattr(model, name):
        raise expected("hyperparameter", f"one of {type(model).__name__}", name)
    for holder in _holders(model, name):
        setattr(holder, name, value)


def _read_everywhere(model: Any, name: str) -> list[float]:
    return [getattr(holder, name) for holder in _holders(model, name)]


def _set_integer(model: Any, name: str, value: float) -> None:
    setattr(model, name, int(value))


def _set_learning_rate(model: Any, name: str, value: float) -> None:
    """Set the optimisers' learning rates, and replace the schedule from which each update sets them."""
    model.learning_rate = value
    model.lr_schedule = Constant(value)
    for group in _groups(model):
        group["lr"] = value


def _read_learning_rate(model: Any, name: str) -> list[float]:
    schedule = model.lr_schedule(model._current_progress_remaining)
    return [schedule, *(group["lr"] for group in _groups(model))]


def _groups(model: Any) -> list[Any]:
    return [group for _, optimizer in optimizers(model) for group in optimizer.param_groups]


def _set_clip_range(model: Any, name: str, value: float) -> None:
    model.clip_range = Constant(value)


def _read_clip_range(model: Any, name: str) -> list[float]:
    return [model.clip_range(model._current_progress_remaining)]


def _set_action_noise(model: Any, name: str, value: float) -> None:
    model.action_noise = noise(model.action_space, value)


def _read_action_noise(model: Any, name: str) -> list[float]:
    """Return the deviations of the noise, which SB3 copies for each of several environments."""
    copies = getattr(model.action_noise, "noises", [model.action_noise])
    return [float(sigma) for one in copies for sigma in one._sigma.ravel()]


def _set_exploration(model: Any, name: str, value: float) -> None:
    model.exploration_schedule = Constant(value)
    model.exploration_rate = value


def _read_exploration(model: Any, name: str) -> list[float]:
    return [model.exploration_rate]


class Constant:
    """A constant schedule."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, remaining: float) -> float:
        """Return the value; `remaining` is the share of the training that remains."""
        return self.value


_SETTERS: dict[str, Callable[[Any, str, float], None]] = {
    "action_noise": _set_action_noise,
    "learning_rate": _set_learning_rate,
    "clip_range": _set_clip_range,
    "n_epochs": _set_integer,
    "exploration": _set_exploration,
}
_READERS: dict[str, Callable[[Any, str], list[float]]] = {
    "action_noise": _read_action_noise,
    "learning_rate": _read_learning_rate,
    "clip_range": _read_clip_range,
    "exploration": _read_exploration,
}
