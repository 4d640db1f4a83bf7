"""A policy as TorchScript, which runs without this package."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from mpi_es.arrays import Candidate, Vector
from mpi_es.errors import UserError, one_line
from mpi_es.evaluation.normalisation import CLIP
from mpi_es.policies.base import Policy
from mpi_es.policies.networks import with_parameters
from mpi_es.policies.torch_module import remembers
from mpi_es.run_file.atomic_write import write_whole

Read = Callable[[Tensor], Tensor]
_STEPS = 5  # of an episode in which script and module are compared


class ScriptedAgent(nn.Module):
    """A network that reads the environment's observations; its memory is one tensor or several, never None.

    Args:
        read: turns observations, once normalised, into the network's input.
    """

    def __init__(self, network: nn.Module, read: Read, normalisation: Vector) -> None:
        super().__init__()
        self.network, self.read, self.scaled = network, read, normalisation.size > 0
        self.register_buffer("normalisation", torch.from_numpy(normalisation.copy()))

    def forward(self, observations: Tensor, *memory: Any) -> Any:
        """Return the outputs, and the new memory of a network that has one."""
        return self.network(self.normalised(observations), *memory)

    def start(self, observations: Tensor) -> Any:
        """Return the outputs and the memory after an episode's first observations."""
        return self.network(self.normalised(observations), None)

    def normalised(self, observations: Tensor) -> Tensor:
        """Return observations as the network reads them, normalised as in training."""
        if self.scaled:
            scaled = (observations.double() - self.normalisation[0]) * self.normalisation[1]
            observations = torch.clip(scaled.float(), -CLIP, CLIP)
        return self.read(observations)


def reader(policy: Policy, space: Any) -> Read:
    """Return the function from observations (k, …) to what the policy's module reads."""
    if not hasattr(policy, "features"):  # it reads the observations unchanged
        return lambda seen: seen.float() if seen.is_floating_point() else seen
    if isinstance(space, spaces.Discrete):
        n, start = int(space.n), int(space.start)
        return lambda seen: nn.functional.one_hot(seen - start, n).float()
    return lambda seen: seen.flatten(1).float()


def write(
    path: Path,
    policy: Policy,
    agent: Candidate,
    normalisation: Vector,
    space: Any,
    option: str = "--torchscript",
) -> None:
    """Write the policy with an agent's parameters.

    The call is script(observations) -> outputs. With a memory, the first call is script.start(observations)
    -> (outputs, memory), and the others are script(observations, memory) -> (outputs, memory).

    Args:
        space: of the environment's observations.
        option: the one that named the file.
    """
    module = with_parameters(policy.module(), agent)
    deployed = ScriptedAgent(module, reader(policy, space), normalisation).requires_grad_(False)
    space.seed(0)
    observations = [torch.from_numpy(np.asarray(space.sample())[None]) for _ in range(_STEPS)]
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # TorchScript is deprecated; sizes become constants
            script = _traced(deployed, observations)
            same = _agree(script, deployed, observations)
    except Exception as error:
        raise UserError(f"{option}: the module cannot be traced: {one_line(error)}") from error
    if not same:
        rule = "a module that computes the same in each step"
        raise UserError(f"{option}: expected {rule}, got one that branches")
    # torch's own writer ends the process on a full disk
    write_whole(path, script.save_to_buffer(), option)


def _traced(deployed: ScriptedAgent, observations: list[Tensor]) -> Any:
    """Return the script, recorded from two steps of an episode."""
    if not remembers(deployed.network):
        return torch.jit.trace(deployed, observations[0])
    _, memory = deployed.start(observations[0])
    inputs = {"forward": (observations[1], memory), "start": (observations[0],)}
    return torch.jit.trace_module(deployed, inputs)


def _agree(script: Any, deployed: ScriptedAgent, observations: list[Tensor]) -> bool:
    """Return whether the outputs of script and module are equal in each step of an episode."""
    if not remembers(deployed.network):
        return all(_equal(script(x), deployed(x)) for x in observations)
    (ours, memory), (theirs, its_memory) = deployed.start(observations[0]), script.start(observations[0])
    same = _equal(ours, theirs)
    for x in observations[1:]:
        ours, memory = deployed(x, memory)
        theirs, its_memory = script(x, its_memory)
        same = same and _equal(ours, theirs)
    return same


def _equal(ours: Tensor, theirs: Tensor) -> bool:
    return bool(torch.allclose(ours, theirs, rtol=0, atol=0, equal_nan=True))
