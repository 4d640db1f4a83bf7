"""Your own policy: a torch module, here one that remembers.

It needs torch (pip install 'mpi_es[policies]'). From this folder:

    python -m mpi_es.train cartpole --policy policy:Leaky --policy-options width=12 --run-dir runs/leaky
    python -m mpi_es.evaluate runs/leaky --seeds fresh
    python -m mpi_es.export runs/leaky --torchscript leaky.pt
"""

import torch
from torch import nn


class Leaky(nn.Module):
    """One layer whose units forget, each at a rate that evolves.

    Args:
        observation_space: of the environment, as is the action space.
        width: number of units; the keywords are those of --policy-options.
    """

    def __init__(self, observation_space, action_space, width=8):
        super().__init__()
        self.read = nn.Linear(observation_space.shape[0], width)
        self.rates = nn.Parameter(torch.zeros(width))
        self.out = nn.Linear(width, int(action_space.n))

    def forward(self, observations, memory):
        """Return the outputs (1, n) and the memory; at an episode's start it is None."""
        seen = torch.tanh(self.read(observations))
        if memory is None:
            memory = torch.zeros_like(seen)
        kept = torch.sigmoid(self.rates)
        memory = kept * memory + (1 - kept) * seen
        return self.out(memory), memory
