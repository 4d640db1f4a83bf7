"""The policies by name. Importing this does not import torch, which workers do without."""

from collections.abc import Callable
from typing import Any

from mpi_es.config.run import Config
from mpi_es.config.user_objects import parsed
from mpi_es.errors import expected, unknown
from mpi_es.policies.base import Policy
from mpi_es.policies.mlp import MLP
from mpi_es.policies.recurrent import Recurrent


def make(config: Config, observation_space: Any, action_space: Any) -> Policy:
    """Return the policy that the configuration names, for the spaces of its environment."""
    options = config.policy_options
    if config.policy in REGISTRY:
        if options:
            raise expected("--policy-options", f"nothing for --policy {config.policy}", " ".join(options))
        return REGISTRY[config.policy](config, observation_space, action_space)
    if ":" in config.policy:
        from mpi_es.policies.torch_module import ModulePolicy, load_network  # torch

        network = load_network(config.policy, parsed(options, "--policy-options"))
        return ModulePolicy(config.policy, network, observation_space, action_space, config.output)
    raise unknown("--policy", config.policy, [*REGISTRY, "package.module:Class"])


def _mlp(config: Config, observation_space: Any, action_space: Any) -> Policy:
    return MLP(
        observation_space,
        action_space,
        config.hidden,
        config.activation,
        config.output,
        config.init_last_layer,
        config.init_outputs,
    )


def _recurrent(config: Config, observation_space: Any, action_space: Any) -> Policy:
    cell = config.policy
    if len(config.hidden) != 1:
        raise expected("--hidden", f"one width for --policy {cell}", config.hidden, "for example --hidden 16")
    activations = ("tanh", "relu") if cell == "rnn" else ("tanh",)
    if config.activation not in activations:
        raise expected("--activation", f"{' or '.join(activations)} for --policy {cell}", config.activation)
    return Recurrent(
        observation_space,
        action_space,
        cell,
        config.hidden[0],
        config.activation,
        config.output,
        config.init_last_layer,
        config.init_outputs,
    )


def _attention(config: Config, observation_space: Any, action_space: Any) -> Policy:
    from mpi_es.policies import attention_options  # numba, which takes its time

    return attention_options.make(config, observation_space, action_space)


REGISTRY: dict[str, Callable[[Config, Any, Any], Policy]] = {
    "mlp": _mlp,
    "rnn": _recurrent,
    "lstm": _recurrent,
    "gru": _recurrent,
    "attention": _attention,
}
