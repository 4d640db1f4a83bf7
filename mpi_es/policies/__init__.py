"""The policy of a config. Importing this does not import torch, which workers do without."""

from typing import Any

from mpi_es.config.run import Config
from mpi_es.config.user_objects import parsed
from mpi_es.errors import expected
from mpi_es.extras import needed_for
from mpi_es.policies.base import Policy
from mpi_es.policies.options import OwnOptions
from mpi_es.strategies import rank_of_noise


def make(config: Config, observation_space: Any, action_space: Any, module: Any = None) -> Policy:
    """Return the policy that the config names, for the spaces of its environment.

    Args:
        module: of a script, a torch module or its class, for which the name stands.
    """
    options: Any = config.policy
    if config.obs_norm and options.name == "attention":
        raise expected("--obs-norm", "no normalisation of the pictures that --policy attention reads", True)
    if not isinstance(options, OwnOptions):
        with needed_for(f"--policy {options.name}"):
            made: Policy = options.make(observation_space, action_space)
        return made
    with needed_for(f"--policy {options.name}"):
        from mpi_es.policies.torch_module import ModulePolicy, load_network, network_of  # torch

    keywords = parsed(options.policy_options, "--policy-options")
    network = load_network(options.name, keywords) if module is None else network_of(module, keywords)
    return ModulePolicy(
        options.name,
        network,
        observation_space,
        action_space,
        options.output,
        rank=rank_of_noise(config.strategy),
    )
