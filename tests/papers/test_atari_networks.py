import gymnasium as gym
import numpy as np
import pytest
import torch

from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.papers.atari_networks import Convolution, ConvolutionLSTM, Stacked, random_frames
from mpi_es.policies import make

GREY = gym.spaces.Box(-np.inf, np.inf, (1, 42, 42), np.float32)
COLOUR = gym.spaces.Box(0, 255, (128, 128, 3), np.uint8)
STACK = gym.spaces.Box(0, 255, (4, 84, 84), np.uint8)
ACTIONS = gym.spaces.Discrete(6)


class Noise(gym.Env):
    """Frames of noise, in the place of a game."""

    observation_space, action_space = COLOUR, ACTIONS

    def __init__(self, game="none"):
        self.game = game

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.integers(0, 256, (128, 128, 3), np.uint8), {}

    def step(self, action):
        return self.np_random.integers(0, 256, (128, 128, 3), np.uint8), 0.0, False, False, {}


def size(module):
    return sum(parameter.numel() for parameter in module.parameters())


def convolution(frames=8):
    torch.manual_seed(0)
    return Convolution(COLOUR, ACTIONS, reference=f"{__name__}:Noise", frames=frames).eval()


def test_the_networks_have_the_numbers_of_parameters_of_their_originals():
    assert size(ConvolutionLSTM(GREY, ACTIONS)) == 588_710
    assert size(convolution()) == 721_664 + 960
    assert size(Stacked(STACK, ACTIONS)) == 1_687_206


@torch.no_grad()
def test_virtual_batch_normalisation_is_batch_normalisation_on_its_batch():
    module = convolution()
    outputs, statistics = module(module.reference, None)
    x = torch.nn.functional.leaky_relu(
        module.convolutions[0](module.reference.permute(0, 3, 1, 2) / 255), 0.2
    )
    for layer in module.convolutions[1:]:
        x = torch.nn.functional.batch_norm(layer(x), None, None, training=True)
        x = torch.nn.functional.leaky_relu(x, 0.2)
    torch.testing.assert_close(outputs, module.head(x).flatten(1), rtol=1e-3, atol=1e-4)
    again, _ = module(module.reference[:1], statistics)
    torch.testing.assert_close(again, outputs[:1], rtol=1e-4, atol=1e-5)


def test_the_lstm_remembers_within_an_episode():
    module = ConvolutionLSTM(GREY, ACTIONS).eval()
    frame = torch.zeros(1, 1, 42, 42)
    first, memory = module(frame, None)
    assert (module(frame, memory)[0] != first).any()
    assert (module(frame, None)[0] == first).all()


def test_reference_frames_are_the_same_everywhere():
    one, other = (random_frames.__wrapped__(f"{__name__}:Noise", "a", 4) for _ in range(2))
    assert one.shape == (4, 128, 128, 3)
    assert (one == other).all()
    assert (one[0] != one[1]).any()


def test_frames_of_another_form_are_refused_with_what_makes_them():
    config = configured(policy="mpi_es.papers.atari_networks:ConvolutionLSTM")
    with pytest.raises(
        UserError, match=r"expected observations \(1, 42, 42\) .*; mpi_es.papers.atari_frames:make_grey"
    ):
        make(config, STACK, ACTIONS)
