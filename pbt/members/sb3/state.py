"""The state of an algorithm of Stable-Baselines3 as named arrays and numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pbt.packing import State

_COUNTERS = ("num_timesteps", "_n_updates", "_episode_num", "_n_calls")
_EXPLORATION = "exploration_rate"
_TRANSITIONS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
_MOMENTS = ("mean", "var", "count")


def read(model: Any, normalizer: Any) -> State:
    """Return weights, optimisers, counters, statistics and the filled part of the replay buffer."""
    state: State = {name: int(getattr(model, name)) for name in _COUNTERS if hasattr(model, name)}
    if hasattr(model, _EXPLORATION):  # DQN sets it after each step
        state[_EXPLORATION] = float(model.exploration_rate)
    for name, module in _modules(model):
        state |= {f"{name}.{key}": _array(tensor) for key, tensor in module.state_dict().items()}
    for name, optimizer in optimizers(model):
        for place, slots in optimizer.state_dict()["state"].items():
            state |= {f"{name}.{place}.{slot}": _array(tensor) for slot, tensor in slots.items()}
    for name, tensor in _variables(model):
        state[name] = _array(tensor)
    for name, moments in _statistics(normalizer):
        state |= {f"{name}.{part}": np.array(getattr(moments, part)) for part in _MOMENTS}
    return state | _transitions(model)


def write(model: Any, normalizer: Any, state: State) -> None:
    """Set the state of a model and of its normaliser."""
    import torch

    for name in (*_COUNTERS, _EXPLORATION):
        if name in state:
            setattr(model, name, state[name])
    for name, module in _modules(model):
        tensors = {key: torch.from_numpy(state[f"{name}.{key}"]) for key in module.state_dict()}
        module.load_state_dict(tensors)
    for name, optimizer in optimizers(model):
        optimizer.load_state_dict(_optimizer_state(optimizer, name, state))
    with torch.no_grad():
        for name, tensor in _variables(model):
            tensor.copy_(torch.from_numpy(state[name]))
    if hasattr(model, "weights"):  # ARS changes a copy of its policy's parameters
        model.weights = torch.nn.utils.parameters_to_vector(model.policy.parameters()).detach()
    for name, moments in _statistics(normalizer):
        for part in _MOMENTS:
            value = state[f"{name}.{part}"]
            setattr(moments, part, value if np.ndim(value) else float(value))
    _restore_transitions(model, state)


def _modules(model: Any) -> Iterator[tuple[str, Any]]:
    yield from _parts(model, optimizers=False)


def optimizers(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the optimisers with their names."""
    yield from _parts(model, optimizers=True)


def _parts(model: Any, *, optimizers: bool) -> Iterator[tuple[str, Any]]:
    """Yield the modules, or the optimisers, that the algorithm itself saves."""
    from torch.optim import Optimizer

    for name in model._get_torch_save_params()[0]:
        part = _attribute(model, name)
        if isinstance(part, Optimizer) == optimizers:
            yield name, part


def _variables(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield tensors that are in no module, such as the logarithm of SAC's entropy coefficient."""
    for name in model._get_torch_save_params()[1]:
        tensor = _attribute(model, name)
        if tensor is not None:
            yield name, tensor


def _attribute(holder: Any, name: str) -> Any:
    for part in name.split("."):
        holder = getattr(holder, part)
    return holder


def _optimizer_state(optimizer: Any, name: str, state: State) -> dict[str, Any]:
    """Return the argument of load_state_dict: slots from the state, groups from the optimiser."""
    import torch

    slots: dict[int, dict[str, Any]] = {}
    for key, value in _below(name, state):
        place, _, slot = key.partition(".")
        if place.isdigit():
            number = isinstance(value, int)  # a count of steps
            slots.setdefault(int(place), {})[slot] = value if number else torch.from_numpy(value)
    return {"param_groups": optimizer.state_dict()["param_groups"], "state": slots}


def _below(name: str, state: State) -> Iterator[tuple[str, Any]]:
    """Yield the entries below a name, with the rest of their names."""
    for key, value in state.items():
        if key.startswith(f"{name}."):
            yield key[len(name) + 1 :], value


def _array(tensor: Any) -> Any:
    return tensor if isinstance(tensor, int) else tensor.detach().cpu().numpy().copy()


def _statistics(normalizer: Any) -> Iterator[tuple[str, Any]]:
    for name in ("obs_rms", "ret_rms"):
        if hasattr(normalizer, name):
            yield name, getattr(normalizer, name)


def _transitions(model: Any) -> State:
    """Return the filled rows of the replay buffer, if there is one."""
    buffer = getattr(model, "replay_buffer", None)
    if buffer is None:
        return {}
    filled = buffer.size()
    rows = {f"replay.{name}": getattr(buffer, name)[:filled] for name in _TRANSITIONS}
    return {"replay.pos": int(buffer.pos), "replay.full": bool(buffer.full), **rows}


def end_episodes(model: Any) -> None:
    """Mark the replay buffer's last transitions as truncated: the next generation begins new episodes."""
    buffer = getattr(model, "replay_buffer", None)
    if buffer is not None and buffer.size():
        last = buffer.pos - 1
        buffer.timeouts[last] = np.logical_or(buffer.timeouts[last], np.logical_not(buffer.dones[last]))


def _restore_transitions(model: Any, state: State) -> None:
    buffer = getattr(model, "replay_buffer", None)
    if buffer is None:
        return
    buffer.pos, buffer.full = int(state["replay.pos"]), bool(state["replay.full"])
    for name in _TRANSITIONS:
        rows = state[f"replay.{name}"]
        getattr(buffer, name)[: len(rows)] = rows
