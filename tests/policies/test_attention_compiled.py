import numpy as np
import pytest
import torch
from gymnasium import spaces

from mpi_es.errors import UserError
from mpi_es.policies.attention_compiled.kernel import allocate, choose
from mpi_es.policies.attention_compiled.patches import find_kinds
from mpi_es.policies.attention_compiled.policy import AttentionPolicy
from tests.policies.attention_reference import features, frames, importance, needs_published, published

PICTURES = spaces.Box(0, 255, (96, 96, 3), np.uint8)
WHEEL = spaces.Box(np.array([-1, 0, 0], np.float32), np.ones(3, np.float32))  # CarRacing's actions

NOISE = np.random.default_rng(0).integers(0, 256, (96, 96, 3), np.uint8)
FLAT = np.full((96, 96, 3), 102, np.uint8)
RAMP = np.repeat(np.arange(96, dtype=np.uint8)[None, :, None], 96, 0).repeat(3, 2)  # equal down each column


def policy(**options):
    return AttentionPolicy(PICTURES, WHEEL, **options)


def torch_agent(ours, vector):
    module = ours.module().requires_grad_(False)
    torch.nn.utils.vector_to_parameters(torch.from_numpy(vector), module.parameters())
    return module


def look(ours, vector, frame):
    """Return importance and chosen patches of one frame."""
    ours.outputs(ours.unpack(vector[None]), frame[None], ours.initial_memory(1))
    return ours.scratch.importance.copy(), ours.scratch.chosen.copy()


def attention_part(vector):
    wq, bq, wk, bk = np.split(vector[:1184].astype(np.float64), [588, 592, 1180])
    return wq.reshape(4, 147), bq, wk.reshape(4, 147), bk


@pytest.mark.parametrize(
    ("options", "dim"),
    [
        ({}, 3667),
        ({"query_dim": 2, "bias": False}, 588 + 2483),
        ({"controller": "mlp", "num_frames": 2}, 1184 + 707),
        ({"controller": "mlp", "num_frames": 4}, 1184 + 1347),
        ({"controller": "rnn"}, 1184 + 659),
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


@pytest.mark.parametrize(("picture", "kinds"), [(FLAT, 1), (RAMP, 23), (NOISE, 529)])
def test_equal_patches_are_found(picture, kinds):
    scratch = allocate(96, 10, 64)
    assert find_kinds(picture, scratch.patches) == kinds
    assert scratch.patches.repeats.sum() == 529
    patches = [picture[r : r + 7, c : c + 7].tobytes() for r in range(0, 92, 4) for c in range(0, 92, 4)]
    numbers = {patch: number for number, patch in enumerate(dict.fromkeys(patches))}
    assert scratch.patches.kind.tolist() == [numbers[patch] for patch in patches]


def test_each_pixel_of_a_patch_tells_it_from_the_others():
    scratch = allocate(12, 1, 64)  # four patches
    for pixel in np.ndindex(7, 7, 3):
        picture = FLAT[:12, :12].copy()
        picture[pixel] += 1
        contents = {picture[r : r + 7, c : c + 7].tobytes() for r in (0, 4) for c in (0, 4)}
        assert find_kinds(picture, scratch.patches) == len(contents) > 1


def test_hashes_that_collide_change_nothing():
    scratch = allocate(96, 10, 64)
    picture = FLAT.copy()
    picture[:, 6::8, 2] += np.arange(96, dtype=np.uint8)[:, None]  # bytes that the hash leaves out
    count = find_kinds(picture, scratch.patches)
    patches = [picture[r : r + 7, c : c + 7].tobytes() for r in range(0, 92, 4) for c in range(0, 92, 4)]
    assert count == len(set(patches))
    assert len(set(scratch.patches.code)) < count


@pytest.mark.parametrize("picture", [FLAT, RAMP, NOISE], ids=["flat", "ramp", "noise"])
@pytest.mark.parametrize("scale", [1, 30])
def test_importance_of_degenerate_pictures_is_right(picture, scale):
    ours = policy()
    vector = scale * ours.initial(0)
    total, chosen = look(ours, vector, picture)
    np.testing.assert_allclose(
        total, importance(picture, *attention_part(vector)), rtol=3e-5, atol=1e-6 * scale
    )
    if picture is FLAT:
        assert chosen.tolist() == [*range(10)]


def test_the_highest_come_first_and_of_equals_the_first():
    rng, chosen = np.random.default_rng(0), np.zeros(10, np.int64)
    for levels in (2, 5, 100, 10_000):
        total = rng.integers(0, levels, 529).astype(np.float32)
        choose(total, chosen)
        assert chosen.tolist() == np.argsort(-total, kind="stable")[:10].tolist()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("place", [0, 590, 600, 1181, 2000, 3660])
def test_a_parameter_that_is_no_number_does_not_lead_out_of_bounds(value, place):
    ours = policy()
    vector = ours.initial(0)
    vector[place] = value
    _, chosen = look(ours, vector, NOISE)
    assert len(set(chosen)) == 10
    assert chosen.min() >= 0
    assert chosen.max() < 529
    fresh = ours.initial(0)  # nothing of it stays in the scratch arrays
    np.testing.assert_array_equal(look(ours, fresh, RAMP)[0], look(policy(), fresh, RAMP)[0])


def test_weights_are_for_the_centres_as_shares_of_the_picture():
    ours = policy()
    _, chosen = look(ours, ours.initial(1), NOISE)
    np.testing.assert_allclose(ours.scratch.activations.features, features(NOISE, ours.initial(1)), rtol=1e-7)
    assert np.array_equal(chosen // 23 * 4 + 3, np.rint(96 * ours.scratch.activations.features[::2]))


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(0, 1, (96, 96, 3), np.float32),
        spaces.Box(0, 255, (96, 96, 1), np.uint8),
        spaces.Box(0, 255, (96, 84, 3), np.uint8),
        spaces.Box(0, 255, (90, 90, 3), np.uint8),
        spaces.Box(0, 255, (16, 16, 3), np.uint8),  # 9 patches
        spaces.Discrete(4),
    ],
)
def test_observations_that_are_no_square_pictures_are_refused(space):
    with pytest.raises(UserError, match=r"expected pictures \(size, size, 3\) of bytes"):
        AttentionPolicy(space, WHEEL)


def test_wide_queries_are_refused():
    with pytest.raises(UserError, match="query_dim: expected 1 to 4 for the attention policy, got 5"):
        policy(query_dim=5)
