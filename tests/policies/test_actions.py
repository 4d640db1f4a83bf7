import numpy as np
import pytest
from gymnasium import spaces

from mpi_es.errors import UserError
from mpi_es.policies.actions import actions_for


def act(space, kind, outputs):
    size, actions = actions_for(space, kind, "mlp")
    assert size == np.shape(outputs)[1]
    return actions(np.array(outputs, np.float32))


def test_argmax_takes_the_first_of_equals_and_counts_from_start():
    assert act(spaces.Discrete(3, start=-1), "argmax", [[0, 2, 2], [1, 1, 1]]).tolist() == [0, -1]


def test_tanh_reaches_the_bounds():
    space = spaces.Box(np.array([-0.1, 2], np.float32), np.array([0.3, 4], np.float32))
    actions = act(space, "tanh", [[-50, 50], [0, 0]])
    np.testing.assert_allclose(actions, [[-0.1, 4], [0.1, 3]], rtol=1e-6)
    assert all(space.contains(action) for action in actions)


def test_tanh_over_the_whole_range_of_single_precision():
    largest = np.finfo(np.float32).max
    assert act(spaces.Box(-largest, largest, (1,)), "tanh", [[0.0], [50]]).tolist() == [
        [0.0],
        [float(largest)],
    ]


def test_clip_keeps_what_lies_inside():
    space = spaces.Box(-1, 1, (2, 1), np.float64)
    actions = act(space, "clip", [[-3, 0.25]])
    assert actions.tolist() == [[[-1.0], [0.25]]]
    assert actions.dtype == np.float64


def test_clip_serves_actions_without_bounds():
    assert act(spaces.Box(-np.inf, np.inf, (1,)), "clip", [[9.0]]).tolist() == [[9.0]]


def test_multi_discrete_takes_the_best_of_each_segment():
    space = spaces.MultiDiscrete([2, 3], start=[0, 5])
    assert act(space, "auto", [[0, 1, 9, 2, 3], [1, 0, 0, 0, 1]]).tolist() == [[1, 5], [0, 7]]
    grid = spaces.MultiDiscrete([[2, 2], [2, 2]])
    assert grid.contains(act(grid, "auto", [[0, 1] * 4])[0])


def test_multi_binary_is_the_sign():
    actions = act(spaces.MultiBinary((2, 2)), "argmax", [[1, -1, 0, 2]])
    assert actions.tolist() == [[[1, 0], [0, 1]]]
    assert actions.dtype == np.int8


@pytest.mark.parametrize(
    ("space", "kind", "words"),
    [
        (spaces.Discrete(2), "tanh", "--output: expected auto or argmax"),
        (spaces.Box(-1, 1, (2,)), "argmax", "--output: expected auto, tanh or clip"),
        (spaces.Box(-np.inf, np.inf, (2,)), "auto", "use --output clip"),
        (spaces.Box(0, np.inf, (2,)), "tanh", "use --output clip"),
        (spaces.Box(0, 5, (2,), np.int32), "auto", "--env: expected actions in a Box of floats"),
        (spaces.Dict(a=spaces.Discrete(2)), "auto", "for --policy mlp, got Dict"),
        (spaces.Text(3), "auto", "for --policy mlp, got Text"),
    ],
)
def test_what_does_not_fit_is_refused(space, kind, words):
    with pytest.raises(UserError, match=words):
        actions_for(space, kind, "mlp")
