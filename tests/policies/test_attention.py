import gymnasium as gym
import numpy as np
import pytest
import torch

from mpi_es.policies.attention import AttentionAgent
from mpi_es.policies.options import AttentionOptions
from tests.policies.attention_reference import (
    features,
    frames,
    importance,
    lstm_step,
    needs_published,
    published,
)


def fill(agent, vector):
    torch.nn.utils.vector_to_parameters(torch.from_numpy(vector), agent.parameters())
    return agent.requires_grad_(False)


def noise(count=1, size=96, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, size, size, 3), np.uint8)


def test_flat_order_is_that_of_the_published_weights():
    shapes = [tuple(p.shape) for p in AttentionAgent().parameters()]
    assert shapes == [(4, 147), (4,), (4, 147), (4,), (64, 20), (64, 16), (64,), (64,), (3, 16), (3,)]


def test_a_patch_is_a_row_of_pixels_after_the_other():
    picture = noise()
    patches = AttentionAgent().patches(torch.from_numpy(picture)).numpy()
    assert patches.shape == (1, 529, 147)
    expected = picture[0, 4:11, 8:15].ravel().astype(np.float32) / np.float32(255)
    assert np.array_equal(patches[0, 23 + 2], expected)


def test_of_equally_important_patches_the_first_come_first():
    agent = AttentionAgent().requires_grad_(False)
    assert agent.chosen(torch.zeros(1, 529))[0].tolist() == [*range(10)]
    total = torch.zeros(1, 529)
    total[0, [500, 7, 20]] = torch.tensor([1.0, 1.0, 2.0])
    assert agent.chosen(total)[0].tolist() == [20, 7, 500, 0, 1, 2, 3, 4, 5, 6]


def test_patches_may_be_read_from_left_to_right():
    chosen = torch.tensor([[50, 3, 23, 26, 0], [46, 1, 0, 24, 23]])
    assert AttentionAgent().read(chosen).tolist() == chosen.tolist()
    by_column = AttentionAgent(AttentionOptions(patch_order="column")).read(chosen)
    assert by_column.tolist() == [[0, 23, 3, 26, 50], [0, 23, 46, 1, 24]]


@pytest.mark.parametrize(("query_dim", "bias"), [(4, True), (2, False)])
def test_importance_is_the_column_sums_in_double_precision(query_dim, bias):
    torch.manual_seed(0)
    agent = AttentionAgent(AttentionOptions(query_dim=query_dim, bias=bias)).requires_grad_(False)
    q, k = agent.attention.q, agent.attention.k
    weights = [
        q.weight.numpy(),
        q.bias.numpy() if bias else 0,
        k.weight.numpy(),
        k.bias.numpy() if bias else 0,
    ]
    total = agent.importance(torch.from_numpy(frames()[:3])).numpy()
    for i in range(3):
        np.testing.assert_allclose(total[i], importance(frames()[i], *weights), rtol=2e-6)
    np.testing.assert_allclose(total.sum(1), 529, rtol=1e-6)


@needs_published
def test_published_weights_answer_as_in_double_precision():
    agent, memory, h, c = fill(AttentionAgent(), published()), None, np.zeros(16), np.zeros(16)
    for frame in frames()[:10]:
        outputs, memory = agent(torch.from_numpy(frame)[None], memory)
        expected, h, c = lstm_step(features(frame, published()), h, c, published()[1184:])
        np.testing.assert_allclose(outputs[0], expected, atol=1e-5)


def test_an_mlp_reads_the_last_frames_and_repeats_the_first():
    torch.manual_seed(0)
    agent = AttentionAgent(AttentionOptions(controller="mlp", num_frames=2)).requires_grad_(False)
    seen = [features(f, torch.nn.utils.parameters_to_vector(agent.parameters()).numpy()) for f in noise(2)]
    _, memory = agent(torch.from_numpy(noise(2)[:1]))
    np.testing.assert_allclose(memory[0], [seen[0], seen[0]], rtol=1e-6)
    outputs, memory = agent(torch.from_numpy(noise(2)[1:]), memory)
    np.testing.assert_allclose(memory[0], seen, rtol=1e-6)
    first, second = agent.controller.fc1, agent.controller.fc2
    hidden = np.maximum(first.weight.numpy() @ np.concatenate(seen) + first.bias.numpy(), 0)
    expected = np.tanh(second.weight.numpy() @ hidden + second.bias.numpy())
    np.testing.assert_allclose(outputs[0], expected, atol=1e-6)


@needs_published
@pytest.mark.slow
def test_the_published_weights_score_in_torch_what_they_are_known_for():
    agent, env, returns = fill(AttentionAgent(), published()).eval(), gym.make("CarRacing-v3"), []
    for seed in range(4):
        (seen, _), memory, over, gained = env.reset(seed=seed), None, False, 0.0
        while not over:
            outputs, memory = agent(torch.from_numpy(seen)[None], memory)
            steer, gas, brake = outputs[0].numpy()
            seen, reward, ended, cut, _ = env.step(np.array([steer, (gas + 1) / 2, (brake + 1) / 2]))
            over, gained = ended or cut, gained + float(reward)
        returns.append(gained)
    assert min(returns) > 600  # of 100 episodes: 893, with a deviation of 54
    assert np.mean(returns) > 800
