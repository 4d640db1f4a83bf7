import numpy as np
import pytest
from gymnasium import spaces

from mpi_es.errors import UserError
from mpi_es.policies.features import features_for, require_array


def test_discrete_observations_become_one_hot():
    size, features = features_for(spaces.Discrete(3, start=1), "mlp")
    assert size == 3
    assert features(np.array([1, 3])).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_a_discrete_observation_below_its_start_is_refused():
    _, features = features_for(spaces.Discrete(3, start=1), "mlp")
    with pytest.raises(UserError, match="--env: expected observations from 1 on, got 0"):
        features(np.array([1, 0]))


def test_small_pictures_are_flattened():
    size, features = features_for(spaces.Box(0, 255, (2, 2, 1), np.uint8), "mlp")
    rows = features(np.arange(8, dtype=np.uint8).reshape(2, 2, 2, 1))
    assert size == 4
    assert rows.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert rows.dtype == np.float32


@pytest.mark.parametrize("shape", [(96, 96, 3), (0,)])
def test_large_pictures_and_empty_observations_are_refused_with_a_hint(shape):
    with pytest.raises(UserError, match=r"of 1 to 10000 numbers for --policy lstm, got \(.*pictures"):
        features_for(spaces.Box(0, 255, shape, np.uint8), "lstm")


def test_as_many_observations_as_no_network_reads_are_refused():
    with pytest.raises(UserError, match=r"of 1 to 10000 numbers for --policy mlp, got Discrete\(1000000\)$"):
        features_for(spaces.Discrete(10**6), "mlp")


@pytest.mark.parametrize("space", [spaces.Dict(a=spaces.Discrete(2)), spaces.Tuple([]), spaces.Text(2)])
def test_spaces_that_do_not_stack_are_refused(space):
    with pytest.raises(UserError, match=r"one array for --policy mlp, got .*FlattenObservation"):
        require_array(space, "mlp")
