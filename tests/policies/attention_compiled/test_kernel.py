import numpy as np
import pytest

from mpi_es.policies.attention_compiled.kernel import choose
from tests.policies.attention_compiled.agent import NOISE, RAMP, look, policy
from tests.policies.attention_reference import features


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


def test_a_controller_may_read_the_chosen_from_left_to_right():
    for seed in range(3):
        ours = policy(patch_order="column", top_k=16)
        _, chosen = look(ours, ours.initial(seed), NOISE)
        by_column = sorted(chosen, key=lambda patch: (patch % 23, patch // 23))
        centres = [(4 * axis + 3) / 96 for patch in by_column for axis in divmod(patch, 23)]
        np.testing.assert_allclose(ours.scratch.activations.features, centres, rtol=1e-6)


def test_weights_are_for_the_centres_as_shares_of_the_picture():
    ours = policy()
    _, chosen = look(ours, ours.initial(1), NOISE)
    np.testing.assert_allclose(ours.scratch.activations.features, features(NOISE, ours.initial(1)), rtol=1e-7)
    assert np.array_equal(chosen // 23 * 4 + 3, np.rint(96 * ours.scratch.activations.features[::2]))
