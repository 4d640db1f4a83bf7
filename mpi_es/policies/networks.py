"""The built-in policies as torch modules. Imported only if torch is wanted: most ranks do not need it."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from mpi_es.arrays import Candidate
from mpi_es.policies.initialisation import torch_seed

_ACTIVATIONS = {"tanh": nn.Tanh, "relu": nn.ReLU, "selu": nn.SELU}
_CELLS = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


def multilayer(sizes: Sequence[int], activation: str) -> nn.Sequential:
    """Return linear layers of these sizes with the activation between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), _ACTIVATIONS[activation]()]
    return nn.Sequential(*layers[:-1])


class RecurrentNetwork(nn.Module):
    """One recurrent layer and a linear one: module(observations, memory) -> (outputs, memory)."""

    def __init__(self, cell: str, activation: str, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        options = {"nonlinearity": activation} if cell == "rnn" else {}
        self.cell = _CELLS[cell](inputs, hidden, batch_first=True, **options)
        self.out = nn.Linear(hidden, outputs)

    def forward(self, observations: Tensor, memory: Any = None) -> tuple[Tensor, Any]:
        """Return the outputs (k, n) of one step; `memory` is torch's own, None at an episode's start."""
        hidden, memory = self.cell(observations[:, None], memory)
        return self.out(hidden[:, 0]), memory


def seeded(build: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Return the module that `build` makes, drawn from the run's seed; restore torch's generator."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(torch_seed(seed))
        return build()


def with_parameters(module: nn.Module, parameters: Candidate) -> nn.Module:
    """Return a module in evaluation mode, with these parameters (dim,) and without gradients."""
    module.eval().requires_grad_(False)
    mine = list(module.parameters())
    parts = torch.from_numpy(parameters.copy()).split([one.numel() for one in mine])
    for one, part in zip(mine, parts, strict=True):
        one.copy_(part.view_as(one))  # in its own precision
    return module


def flat(module: nn.Module) -> Candidate:
    """Return a module's parameters, (dim,), in the order of parameters_to_vector."""
    vector = nn.utils.parameters_to_vector(module.parameters())
    numbers: Candidate = vector.detach().float().numpy().copy()
    return numbers
