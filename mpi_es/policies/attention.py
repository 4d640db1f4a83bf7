"""The self-attention agent of arXiv:2003.08165 in torch: the most important patches, then a controller."""

import math
from collections.abc import Callable
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mpi_es.arrays import Candidate
from mpi_es.policies import initialisation
from mpi_es.policies.actions import actions_for
from mpi_es.policies.base import Attention
from mpi_es.policies.options import AttentionOptions
from mpi_es.policies.torch_module import ModulePolicy

_PAPERS = AttentionOptions()


class AttentionAgent(nn.Module):
    """Finds the `top_k` most important patches; a controller maps their positions to outputs.

    Called as module(observations, memory) -> (outputs in [-1, 1], memory), with pictures uint8 (batch,
    size, size, 3) and memory None at an episode's start. An mlp reads the centres of the last frames, the
    oldest first; the first frame of an episode stands for earlier ones. The defaults are the paper's.

    Args:
        outputs: their number.
    """

    def __init__(self, options: AttentionOptions = _PAPERS, size: int = 96, outputs: int = 3) -> None:
        super().__init__()
        self.patch, self.stride, self.size = options.patch_size, options.stride, size
        self.top_k, self.patch_order = options.top_k, options.patch_order
        self.attention = SelfAttention(3 * self.patch**2, options.query_dim, options.bias)
        controller = _CONTROLLERS[options.controller]
        self.controller = controller(2 * self.top_k, options.hidden[0], outputs, options.num_frames)
        self.register_buffer("centres", _centres(self.patch, self.stride, size), persistent=False)

    def forward(self, observations: Tensor, memory: Any = None) -> tuple[Tensor, Any]:
        """Return the outputs (batch, outputs) and the memory afterwards."""
        chosen = self.chosen(self.importance(observations))
        features = self.centres[self.read(chosen)].flatten(1) / self.size
        outputs, memory = self.controller(features, memory)
        return torch.tanh(outputs), memory

    def importance(self, observations: Tensor) -> Tensor:
        """Return how much attention each patch gets from all of them, (batch, patches)."""
        return self.attention(self.patches(observations)).sum(1)

    def chosen(self, importance: Tensor) -> Tensor:
        """Return the most important patches, (batch, top_k), highest first;
        of equal ones, lower indices first.
        """
        return torch.sort(importance, dim=1, descending=True, stable=True).indices[:, : self.top_k]

    def read(self, chosen: Tensor) -> Tensor:
        """Return the chosen patches, (batch, top_k), in the order in which the controller reads them."""
        if self.patch_order == "importance":
            return chosen
        columns = (self.size - self.patch) // self.stride + 1
        by_column = chosen % columns * columns + chosen // columns
        return chosen.gather(1, by_column.argsort(dim=1))

    def patches(self, observations: Tensor) -> Tensor:
        """Return the patches, (batch, patches, 3 * patch²): row by row, each as (row, column, channel)."""
        pixels = observations.float() / 255
        windows = pixels.unfold(1, self.patch, self.stride).unfold(2, self.patch, self.stride)
        return windows.permute(0, 1, 2, 4, 5, 3).flatten(3).flatten(1, 2)


class SelfAttention(nn.Module):
    """Queries and keys of patches; there are no values."""

    def __init__(self, width: int, query_dim: int, bias: bool) -> None:
        super().__init__()
        self.q = nn.Linear(width, query_dim, bias=bias)
        self.k = nn.Linear(width, query_dim, bias=bias)

    def forward(self, patches: Tensor) -> Tensor:
        """Return the attention (batch, queries, keys); each query's row sums to one."""
        scores = self.q(patches) @ self.k(patches).transpose(1, 2)
        # Scaled by the width of the data, as in the paper's code, not by that of the queries.
        return functional.softmax(scores / math.sqrt(patches.shape[2]), dim=2)


class _LSTM(nn.Module):
    def __init__(self, inputs: int, hidden: int, outputs: int, num_frames: int) -> None:
        super().__init__()
        self.cell = nn.LSTM(inputs, hidden)
        self.fc = nn.Linear(hidden, outputs)

    def forward(self, features: Tensor, memory: Any) -> tuple[Tensor, Any]:
        hidden, memory = self.cell(features[None], memory)
        return self.fc(hidden[0]), memory


class _RNN(_LSTM):
    def __init__(self, inputs: int, hidden: int, outputs: int, num_frames: int) -> None:
        super().__init__(inputs, hidden, outputs, num_frames)
        self.cell = nn.RNN(inputs, hidden, nonlinearity="relu")


class _MLP(nn.Module):
    def __init__(self, inputs: int, hidden: int, outputs: int, num_frames: int) -> None:
        super().__init__()
        self.num_frames = num_frames
        self.fc1 = nn.Linear(num_frames * inputs, hidden)
        self.fc2 = nn.Linear(hidden, outputs)

    def forward(self, features: Tensor, memory: Any) -> tuple[Tensor, Any]:
        frames = features[:, None].repeat(1, self.num_frames, 1) if memory is None else memory
        frames = torch.cat([frames[:, 1:], features[:, None]], dim=1)  # (batch, num_frames, inputs)
        return self.fc2(functional.relu(self.fc1(frames.flatten(1)))), frames


_CONTROLLERS: dict[str, Callable[[int, int, int, int], nn.Module]] = {"lstm": _LSTM, "rnn": _RNN, "mlp": _MLP}


def _centres(patch: int, stride: int, size: int) -> Tensor:
    """Return the row and column of each patch's centre, (patches, 2)."""
    axis = torch.arange(patch // 2, size - patch + patch // 2 + 1, stride).float()
    return torch.cartesian_prod(axis, axis)


class InTorch(ModulePolicy):
    """The agent in torch, for options that are not compiled; it evaluates one network after another."""

    def __init__(
        self, options: AttentionOptions, size: int, observation_space: Any, action_space: Any
    ) -> None:
        outputs, _ = actions_for(action_space, options.output, "attention", squashed=True)

        def network(*_: Any) -> AttentionAgent:
            return AttentionAgent(options, size, outputs)

        super().__init__("attention", network, observation_space, action_space, options.output, squashed=True)
        self._init_outputs = initialisation.biases(options.init_outputs, self.size)

    def initial(self, seed: int) -> Candidate:
        """Return torch's default initialisation (dim,), drawn from the seed,
        with --init-outputs as last biases.
        """
        return initialisation.ending_with(self._init_outputs, super().initial(seed))

    def _choose(self, rank: int) -> tuple[None, str]:
        return None, "its attention is looked at after a step"  # `look` needs the weights of the last step

    def look(self, observation: NDArray[Any]) -> Attention:
        """Return the attention, on an observation, of the network that acted last."""
        agent: Any = self._module
        with torch.inference_mode():
            importance = agent.importance(torch.from_numpy(observation[None].copy()))
            chosen = agent.chosen(importance)
        return Attention(importance[0].numpy(), chosen[0].numpy(), agent.patch, agent.stride)
