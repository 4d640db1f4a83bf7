"""The policy of a config. Importing this does not import torch, which most ranks do not need."""

import os
from functools import partial
from typing import Any

from mpi_es.config.run import Config
from mpi_es.config.user_objects import load, parsed
from mpi_es.errors import expected
from mpi_es.extras import needed_for
from mpi_es.parallel.start_mpi import find_launch
from mpi_es.policies.base import Policy
from mpi_es.policies.device import device_for
from mpi_es.policies.options import OwnOptions
from mpi_es.strategies import rank_of_noise


def make(config: Config, observation_space: Any, action_space: Any, module: Any = None) -> Policy:
    """Return the policy that the config names, for the spaces of its environment.

    Args:
        module: the script's object to which the name refers: a torch module, its class, or a class with a
            kernel.
    """
    options: Any = config.policy
    if not isinstance(options, OwnOptions):
        _require_cpu(config)
        with needed_for(f"--policy {options.name}"):
            made: Policy = options.make(observation_space, action_space)
        return made
    keywords = parsed(options.policy_options, "--policy-options")
    found = load("--policy", options.name) if module is None else module
    if has_kernel(found):
        _require_cpu(config)
        from mpi_es.policies.user_kernel import KernelPolicy  # numba

        own = partial(found, **keywords)
        return KernelPolicy(options.name, own, observation_space, action_space, options.output)
    with needed_for(f"--policy {options.name}"):
        import torch

        from mpi_es.policies.torch_module import ModulePolicy, network_of

    network = network_of(found, keywords, options.name)
    return ModulePolicy(
        options.name,
        network,
        observation_space,
        action_space,
        options.output,
        rank=rank_of_noise(config.strategy),
        device=device_for(config.device, find_launch(os.environ).local_rank, torch.cuda.device_count()),
    )


def _require_cpu(config: Config) -> None:
    """Refuse a device other than the CPU for a policy that is not the user's torch module."""
    if config.device not in ("cpu", "auto"):
        rule = f"cpu or auto with --policy {config.policy.name}, which is not a torch module of your own"
        raise expected("--device", rule, config.device)


def has_kernel(policy: Any) -> bool:
    """Return whether a user's policy is a class whose step numba compiles."""
    return isinstance(policy, type) and hasattr(policy, "kernel")
