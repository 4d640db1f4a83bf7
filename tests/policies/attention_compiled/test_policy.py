import numpy as np
import pytest
import torch
from gymnasium import spaces

from mpi_es.errors import UserError
from mpi_es.policies.attention_compiled.policy import size_of
from tests.policies.attention_compiled.agent import look, policy
from tests.policies.attention_reference import frames, needs_published, published


def torch_agent(ours, vector):
    module = ours.module().requires_grad_(False)
    torch.nn.utils.vector_to_parameters(torch.from_numpy(vector), module.parameters())
    return module


@pytest.mark.parametrize(
    ("options", "dim"),
    [
        ({}, 3667),
        ({"query_dim": 2, "bias": False}, 588 + 2483),
        ({"controller": "mlp", "num_frames": 2}, 1184 + 707),
        ({"controller": "mlp", "num_frames": 4}, 1184 + 1347),
        ({"controller": "rnn"}, 1184 + 659),
        ({"patch_order": "column"}, 3667),
        ({"top_k": 16, "hidden": 32, "patch_order": "column"}, 1184 + 128 * (32 + 32 + 2) + 3 * 33),
        ({"controller": "mlp", "num_frames": 2, "top_k": 3, "patch_order": "column"}, 1184 + 259),
    ],
)
def test_each_controller_answers_as_in_torch_over_an_episode(options, dim):
    ours = policy(**options)
    vector = ours.initial(3)
    assert vector.shape == (ours.dim,) == (dim,)
    module, theirs = torch_agent(ours, vector), None
    weights, memory = ours.unpack(vector[None]), ours.initial_memory(1)
    for frame in frames()[:12]:
        outputs, memory = ours.outputs(weights, frame[None], memory)
        expected, theirs = module(torch.from_numpy(frame)[None], theirs)
        np.testing.assert_allclose(outputs, expected, atol=2e-6)


@needs_published
def test_published_weights_choose_the_patches_that_torch_chooses():
    ours = policy()
    module = torch_agent(ours, published())
    same = []
    for frame in frames()[::2]:
        total, chosen = look(ours, published(), frame)
        expected = module.importance(torch.from_numpy(frame)[None])
        np.testing.assert_allclose(total, expected[0], rtol=1e-5)
        same.append(set(chosen) == set(module.chosen(expected)[0].tolist()))
    assert np.mean(same) >= 0.95  # the tenth and the eleventh may differ by less than rounding


@needs_published
def test_published_weights_drive_gymnasiums_car_as_in_torch():
    ours, h = policy(), np.zeros((1, 32), np.float32)
    module, weights = torch_agent(ours, published()), ours.unpack(published()[None])
    for frame in frames()[:10]:
        state = tuple(torch.from_numpy(h[:, None, i : i + 16].copy()) for i in (0, 16))
        picture = torch.from_numpy(frame)[None]
        expected = module(picture, state)[0][0].numpy()
        action, h = ours.act(weights, frame[None], h)
        if np.array_equal(ours.scratch.chosen, module.chosen(module.importance(picture))[0]):
            steer, gas, brake = expected[0], (expected[1] + 1) / 2, (expected[2] + 1) / 2
            np.testing.assert_allclose(action[0], [steer, gas, brake], atol=2e-6)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(0, 1, (96, 96, 3), np.float32),
        spaces.Box(0, 255, (96, 96, 1), np.uint8),
        spaces.Box(0, 255, (96, 84, 3), np.uint8),
        spaces.Discrete(4),
    ],
)
def test_observations_that_are_no_square_pictures_are_refused(space):
    with pytest.raises(UserError, match=r"expected pictures \(size, size, 3\) of bytes"):
        size_of(space)
