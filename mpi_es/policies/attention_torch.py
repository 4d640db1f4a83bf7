"""The self-attention agent as a policy that torch runs, in the forms that are not compiled."""

from typing import Any

import torch
from numpy.typing import NDArray

from mpi_es.policies.base import Attention
from mpi_es.policies.torch_module import ModulePolicy


class InTorch(ModulePolicy):
    """`attention.AttentionAgent`, of which it can be told what it looks at."""

    def look(self, observation: NDArray[Any]) -> Attention:
        """Return what the network that answered last, whose weights the module still has, sees here."""
        agent: Any = self._module
        with torch.inference_mode():
            importance = agent.importance(torch.from_numpy(observation[None].copy()))
            chosen = agent.chosen(importance)
        return Attention(importance[0].numpy(), chosen[0].numpy(), agent.patch, agent.stride)
