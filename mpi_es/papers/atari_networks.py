"""Networks for Atari games as torch modules: pytorch-es's convolutions with an LSTM, and PyTorch-ES's.

`--policy mpi_es.papers.atari_networks:ConvolutionLSTM` for frames of atari_frames.make_grey, `:Convolution`
for those of make_colour, `:Stacked` for four frames of 84 x 84, as from envpool and ale_py.
"""

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mpi_es.config.user_objects import load
from mpi_es.errors import expected

Memory = tuple[Tensor, Tensor]


class ConvolutionLSTM(nn.Module):
    """Four convolutions with SELU and an LSTM cell, for (1, 42, 42); for Pong 588,710 parameters."""

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        super().__init__()
        _require(observation_space, (1, 42, 42), "ConvolutionLSTM", "make_grey")
        channels = (1, 32, 32, 32, 32)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(inputs, outputs, 3, stride=2, padding=1) for inputs, outputs in pairwise(channels)
        )
        self.lstm = nn.LSTMCell(32 * 3 * 3, 256)
        self.head = nn.Linear(256, int(action_space.n))

    def forward(self, observations: Tensor, memory: Memory | None) -> tuple[Tensor, Memory]:
        """Return the outputs (k, actions) and the LSTM's state."""
        x = observations
        for convolution in self.convolutions:
            x = functional.selu(convolution(x))
        hidden, cell = self.lstm(x.flatten(1), memory)
        return self.head(hidden), (hidden, cell)


class Convolution(nn.Module):
    """Six convolutions with batch normalisation and LeakyReLU, for (128, 128, 3) bytes.

    It is virtual batch normalisation (arXiv:1606.03498, as arXiv:1703.03864 uses it): mean and variance are
    those of a fixed batch of frames, which a network passes through its layers when an episode begins.

    Args:
        reference: package.module:make of the environment whose frames the batch holds.
        game: its argument.
        frames: their number; 128 as in OpenAI's code.
    """

    def __init__(
        self,
        observation_space: Any,
        action_space: Any,
        reference: str = "mpi_es.papers.atari_frames:make_colour",
        game: str = "SpaceInvaders",
        frames: int = 128,
    ) -> None:
        super().__init__()
        _require(observation_space, (128, 128, 3), "Convolution", "make_colour")
        channels = (3, 16, 32, 64, 128, 256)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(inputs, outputs, 4, stride=2, padding=1, bias=False)
            for inputs, outputs in pairwise(channels)
        )
        self.scales = nn.ParameterList(torch.ones(width) for width in channels[2:])
        self.shifts = nn.ParameterList(torch.zeros(width) for width in channels[2:])
        self.head = nn.Conv2d(channels[-1], int(action_space.n), 4, bias=False)
        batch = torch.from_numpy(random_frames(reference, game, frames))
        self.register_buffer("reference", batch, persistent=False)

    def forward(self, observations: Tensor, memory: list[Memory] | None) -> tuple[Tensor, list[Memory]]:
        """Return the outputs (k, actions), and each layer's mean and variance of the batch."""
        if memory is None:
            memory = []
            self._pass(self.reference, memory, measured=False)
        return self._pass(observations, memory, measured=True), memory

    def _pass(self, frames: Any, statistics: list[Memory], *, measured: bool) -> Tensor:
        """Return the outputs for frames; unless measured, append the layers' statistics."""
        x = frames.permute(0, 3, 1, 2) / 255
        x = functional.leaky_relu(self.convolutions[0](x), 0.2)
        for layer, convolution in enumerate(self.convolutions[1:]):
            x = convolution(x)
            if not measured:
                statistics.append((x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)))
            scale, shift = self.scales[layer], self.shifts[layer]
            x = functional.batch_norm(x, *statistics[layer], scale, shift, training=False)
            x = functional.leaky_relu(x, 0.2)
        outputs: Tensor = self.head(x).flatten(1)
        return outputs


class Stacked(nn.Module):
    """The network of DQN (Mnih et al. 2015) for (4, 84, 84) bytes: three convolutions and a hidden layer."""

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        super().__init__()
        _require(observation_space, (4, 84, 84), "Stacked", "make_stacked")
        self.layers = nn.Sequential(
            *(nn.Conv2d(4, 32, 8, stride=4), nn.ReLU()),
            *(nn.Conv2d(32, 64, 4, stride=2), nn.ReLU()),
            *(nn.Conv2d(64, 64, 3), nn.ReLU()),
            *(nn.Flatten(), nn.Linear(64 * 7 * 7, 512), nn.ReLU()),
            nn.Linear(512, int(action_space.n)),
        )

    def forward(self, observations: Tensor) -> Tensor:
        """Return the outputs (k, actions)."""
        outputs: Tensor = self.layers(observations / 255)
        return outputs


@cache  # modules are made several times
def random_frames(reference: str, game: str, count: int, seed: int = 0) -> Any:
    """Return frames (count, …) of random play: every eighth frame of successive episodes."""
    env = load("--policy-options reference", reference)(game=game)
    generator, frames, over = np.random.default_rng(seed), [], True
    for step in range(8 * count):
        if over:
            frame, _ = env.reset(seed=seed + step)
        frame, _, terminated, truncated, _ = env.step(int(generator.integers(env.action_space.n)))
        over = terminated or truncated
        if step % 8 == 0:
            frames.append(frame)
    env.close()
    return np.stack(frames)


def _require(space: Any, shape: tuple[int, ...], network: str, maker: str) -> None:
    if space.shape != shape:
        hint = f"mpi_es.papers.atari_frames:{maker} makes them"
        raise expected("--env", f"observations {shape} for {network}", space.shape, hint)
