"""Policies as a user writes them, for the tests."""

import numpy as np
import torch
from torch import nn


class Plain(nn.Sequential):
    def __init__(self, observation_space, action_space):
        n = action_space.n if hasattr(action_space, "n") else action_space.shape[0]
        size = int(np.prod(observation_space.shape))
        super().__init__(nn.Flatten(), nn.Linear(size, 33), nn.Tanh(), nn.Linear(33, int(n)))


class Single(nn.Module):
    """A network of one layer."""

    def __init__(self, observation_space, action_space):
        super().__init__()
        self.out = nn.Linear(observation_space.shape[0], int(action_space.n))

    def forward(self, observations):
        return self.out(observations)


class Remembering(nn.Module):
    def __init__(self, observation_space, action_space):
        super().__init__()
        n = action_space.n if hasattr(action_space, "n") else action_space.shape[0]
        self.cell = nn.LSTMCell(observation_space.shape[0], 7)
        self.out = nn.Linear(7, int(n))

    def forward(self, observations, memory):
        memory = self.cell(observations, memory)
        return self.out(memory[0]), memory


class Drawing(nn.Module):
    """A network that draws its outputs."""

    def __init__(self, observation_space, action_space):
        super().__init__()
        self.out = nn.Linear(int(np.prod(observation_space.shape)), int(action_space.n))

    def forward(self, observations):
        return torch.normal(self.out(observations), 1.0)


class Pictures(nn.Module):
    """A convolutional network with batch normalisation, whose sizes are found at the first call."""

    def __init__(self, observation_space, action_space):
        super().__init__()
        n = action_space.n if hasattr(action_space, "n") else action_space.shape[0]
        self.layers = nn.Sequential(
            nn.Conv2d(3, 5, 4, 2, 1, bias=False),
            nn.BatchNorm2d(5),
            nn.LeakyReLU(0.2),
            nn.Conv2d(5, 8, 4, 2, 1),
        )
        self.out = nn.LazyLinear(int(n))
        self.register_buffer("scale", torch.rand(1) + 1)

    def forward(self, observations):
        assert observations.dtype == torch.uint8
        x = self.layers(observations.permute(0, 3, 1, 2).float() / 255)
        return self.out(x.flatten(1)) * self.scale


class Normed(nn.Sequential):
    """Normalised layers of odd widths, and activations whose vectors round otherwise than single numbers."""

    def __init__(self, observation_space, action_space):
        n = action_space.n if hasattr(action_space, "n") else action_space.shape[0]
        first = [nn.Linear(int(np.prod(observation_space.shape)), 15), nn.LayerNorm(15), nn.SELU()]
        second = [nn.Linear(15, 9), nn.GroupNorm(3, 9), nn.SiLU()]
        super().__init__(nn.Flatten(), *first, *second, nn.Linear(9, int(n)), nn.Sigmoid())


class Seeing(nn.Module):
    """Reads bytes by convolutions and remembers by a cell."""

    def __init__(self, observation_space, action_space, cell="LSTMCell"):
        super().__init__()
        n = action_space.n if hasattr(action_space, "n") else action_space.shape[0]
        first = [nn.Conv2d(3, 5, 3, 2, 1), nn.GroupNorm(1, 5), nn.ELU()]
        self.layers = nn.Sequential(*first, nn.Conv2d(5, 3, 3, 2), nn.SELU(), nn.Flatten())
        self.cell = getattr(nn, cell)(27, 7)
        self.out = nn.Linear(7, int(n))

    def forward(self, observations, memory):
        assert observations.dtype == torch.uint8
        memory = self.cell(self.layers(observations.permute(0, 3, 1, 2) / 255), memory)
        return self.out(memory[0] if isinstance(memory, tuple) else memory), memory


class Wrong(Plain):
    def __init__(self, observation_space, action_space):
        super().__init__(observation_space, action_space)
        self.append(nn.Linear(self[-1].out_features, 11))


class Empty(nn.Module):
    def __init__(self, observation_space, action_space):
        super().__init__()

    def forward(self, observations):
        return observations[:, :2]


class NoMemory(Remembering):
    def forward(self, observations, memory):
        return self.out(self.cell(observations, memory)[0])


class Sized(Single):
    """A network whose width is an option."""

    def __init__(self, observation_space, action_space, width, activation="Tanh"):
        super().__init__(observation_space, action_space)
        if width > 99:
            raise ValueError("too wide")
        layers = nn.Linear(observation_space.shape[0], width), getattr(nn, activation)()
        self.out = nn.Sequential(*layers, nn.Linear(width, int(action_space.n)))


class Branching(Plain):
    def forward(self, observations):
        sign = 1 if observations.sum() > 0 else -1
        return sign * super().forward(observations)


class Nothing(nn.Module):
    def __init__(self):
        super().__init__()


class Leaving(nn.Module):
    def __init__(self, observation_space, action_space):
        raise SystemExit("no weights found")


not_a_module = 3
