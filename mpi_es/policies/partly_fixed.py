"""A policy whose one part evolves, while the other parts stay as in a given agent."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.policies.base import Policy, Weights, within


class PartlyFixed:
    """Another policy with the parameters of one of its parts only; all else is the other policy's.

    Args:
        policy: the whole one.
        part: the name of its part that evolves.
        agent: parameters of the whole policy, (policy.dim,); those of the part do not matter.
    """

    takes_factors = False  # the other policy's would be those of all its matrices

    def __init__(self, policy: Policy, part: str, agent: Candidate) -> None:
        self.policy, self.part, self.agent = policy, policy.parts[part], agent
        self.name = part
        self.shapes = {name: shape for name, shape in policy.shapes.items() if within(name, part)}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.policy, name)

    @property
    def dim(self) -> int:
        """The number of parameters that evolve."""
        return len(self.agent[self.part])

    def whole(self, parameters: NDArray[Any]) -> NDArray[Any]:
        """Return parameters (…, dim) with those that stay fixed, (…, policy.dim)."""
        agents = np.empty((*parameters.shape[:-1], len(self.agent)), np.float32)
        agents[...] = self.agent
        agents[..., self.part] = parameters
        return agents

    def initial(self, seed: int) -> Candidate:
        """Return the part's share, (dim,), of the whole policy's initialisation."""
        return self.policy.initial(seed)[self.part]

    def unpack(self, parameters: NDArray[np.float32]) -> Weights:
        """Return the whole policy's weights for parameters (k, dim)."""
        return self.policy.unpack(self.whole(parameters))

    def module(self) -> Any:
        """Return the whole policy's module, with the fixed parameters as buffers."""
        from torch import from_numpy, nn  # see `initial` of the built-in policies

        module = self.policy.module()
        nn.utils.vector_to_parameters(from_numpy(self.agent.copy()), module.parameters())
        for name, parameter in [*module.named_parameters()]:
            owner, _, own_name = name.rpartition(".")
            if not within(name, self.name):
                layer = module.get_submodule(owner)
                delattr(layer, own_name)
                layer.register_buffer(own_name, parameter.detach())
        return module
