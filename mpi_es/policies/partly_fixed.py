"""A policy of which one part evolves, while the others stay as in a given agent."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.policies.base import Policy, Weights, within
from mpi_es.strategies.low_rank import Layout


class PartlyFixed:
    """A wrapper of a policy with the parameters of one part only; everything else is the policy's.

    Args:
        policy: the whole policy.
        part: the name of its part that evolves.
        agent: parameters of the whole policy, (policy.dim,); those of the part do not matter.
    """

    def __init__(self, policy: Policy, part: str, agent: Candidate) -> None:
        self.policy, self.part, self.agent = policy, policy.parts[part], agent
        self.name = part
        self.shapes = {name: shape for name, shape in policy.shapes.items() if within(name, part)}
        self.layout = policy.layout and Layout(self.shapes.values(), policy.layout.rank)

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

    def unpack_factors(self, centre: Candidate, numbers: NDArray[np.float32]) -> Weights:
        """Return the whole policy's weights for numbers (k, size) around a centre (dim,)."""
        layout = self.policy.layout
        assert layout is not None, "it takes factors"
        named = zip(self.policy.shapes, layout.parts, strict=True)
        evolving = [part for name, part in named if within(name, self.name)]
        factors = np.zeros((len(numbers), layout.size), np.float32)  # zero for the fixed parts
        factors[:, evolving[0].drawn : evolving[-1].right.stop] = numbers
        return self.policy.unpack_factors(self.whole(centre), factors)
