import numpy as np
import pytest
from gymnasium import spaces

from mpi_es.policies.actions import actions_for
from mpi_es.policies.kernels.choices import choice_for, scale_for

BOUNDS = np.array([-2, 0, -1e30], np.float32), np.array([2, 1, 1e30], np.float32)
NAN = np.nan
ODD = np.array([[NAN, 1, 2], [1, NAN, NAN], [np.inf, -np.inf, 0], [3, 3, 3], [-0.0, 0, 0]], np.float32)


@pytest.mark.parametrize("squashed", [False, True])
@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (spaces.Discrete(3), "auto"),
        (spaces.Discrete(3, start=5), "argmax"),
        (spaces.Box(*BOUNDS), "auto"),
        (spaces.Box(*BOUNDS), "clip"),
    ],
)
def test_a_choice_is_that_of_the_ordinary_rollout_to_the_bit(space, kind, squashed):
    drawn = np.random.default_rng(0).normal(0, 1, (200, 3)).astype(np.float32)
    outputs = np.concatenate([ODD, np.clip(drawn, -1, 1) if squashed else drawn])
    _, to_actions = actions_for(space, kind, "mlp", squashed)
    choose, scale = choice_for(space, kind, squashed), scale_for(space)
    action = np.zeros(space.shape or 1, space.dtype)
    for row, expected in zip(outputs, to_actions(outputs), strict=True):
        choose(row.copy(), scale, action)
        np.testing.assert_array_equal(action, np.atleast_1d(expected))


@pytest.mark.filterwarnings("error")
def test_actions_without_bounds_have_a_choice_without_a_warning():
    space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action = np.zeros(2, np.float32)
    choice_for(space, "clip", False)(np.array([-9, 9], np.float32), scale_for(space), action)
    assert action.tolist() == [-9, 9]


@pytest.mark.parametrize(
    "space",
    [
        spaces.MultiBinary(3),
        spaces.Box(-1, 1, (2,), np.float64),
        spaces.Box(-1, 1, (2, 2), np.float32),
        spaces.Discrete(2, start=2**24 + 1),  # no float32
    ],
)
def test_other_spaces_have_none(space):
    assert choice_for(space, "auto", False) is None
