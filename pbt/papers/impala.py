"""The network of IMPALA (arXiv:1802.01561) for Stable-Baselines3; the Procgen paper uses it.

`--member-options "policy_kwargs={'features_extractor_class': 'pbt.papers.impala:Impala', 'net_arch': [],
'ortho_init': False}"`
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mpi_es.errors import UserError

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Impala(nn.Module):
    """From pictures (batch, channels, height, width) in [0, 1] to features (batch, width).

    Args:
        depths: channels of each part; each part halves height and width.
        width: of the features.
        precision: of the layers' arithmetic, "float32" or "bfloat16"; weights and features are float32.
    """

    def __init__(
        self,
        observation_space: Any,
        depths: Sequence[int] = (16, 32, 32),
        width: int = 256,
        precision: str = "float32",
    ) -> None:
        if precision not in PRECISIONS:
            raise UserError(f"precision: expected {' or '.join(PRECISIONS)}, got {precision!r}")
        super().__init__()
        self.precision = PRECISIONS[precision]
        self.features_dim = width
        inputs = [observation_space.shape[0], *depths]
        parts = [Part(*pair) for pair in zip(inputs[:-1], depths, strict=True)]
        self.parts = nn.Sequential(*parts, nn.ReLU(), nn.Flatten())
        with torch.no_grad():
            size = self.parts(torch.zeros(1, *observation_space.shape)).shape[1]
        self.dense = nn.Linear(size, width)
        for layer in self.modules():
            if isinstance(layer, nn.Linear | nn.Conv2d):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, observations: Tensor) -> Tensor:
        """Return the features."""
        # With channels last in memory, all layers take 0.6 of the time. The weights keep their layout, so
        # that a copied state has the same layout as its original.
        pictures = observations.contiguous(memory_format=torch.channels_last)
        half = self.precision != torch.float32
        with torch.autocast(pictures.device.type, dtype=self.precision, enabled=half):
            features = self.dense(self.parts(pictures))
        return torch.relu(features.float())


class Part(nn.Module):
    """A convolution, a pooling layer that halves the picture, and two residual blocks."""

    def __init__(self, inputs: int, depth: int) -> None:
        super().__init__()
        pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layers = nn.Sequential(_convolution(inputs, depth), pool, Residual(depth), Residual(depth))

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the smaller pictures."""
        result: Tensor = self.layers(pictures)
        return result


class Residual(nn.Module):
    """Two convolutions whose result is added to their input."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        layers = nn.ReLU(), _convolution(depth, depth), nn.ReLU(), _convolution(depth, depth)
        self.layers = nn.Sequential(*layers)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return pictures of the same size."""
        result: Tensor = pictures + self.layers(pictures)
        return result


def _convolution(inputs: int, depth: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, depth, 3, padding=1)
