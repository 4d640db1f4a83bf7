import numpy as np
import pytest

from mpi_es.errors import UserError
from mpi_es.worlds.options import flag, number, step_limit
from mpi_es.worlds.vector_arguments import counts


@pytest.mark.parametrize(("steps", "limit"), [(None, 200), (7, 7), (300, 300), (-1, 0)])
def test_the_users_limit_comes_before_the_registered_one(steps, limit):
    assert step_limit(steps, 200) == limit


@pytest.mark.parametrize("steps", [0, -2, 1.5, True, "7"])
def test_another_limit_is_refused(steps):
    with pytest.raises(UserError, match="max_episode_steps: expected a whole number from 1, or -1, got"):
        step_limit(steps, 200)


def test_numbers_and_flags_of_numpy_are_taken():
    assert (flag("wind", np.True_), number("gravity", np.float32(-9))) == (True, -9.0)
    assert step_limit(np.int64(7), 200) == 7
    counts(num_envs=np.int64(2))


def test_true_is_no_number():
    with pytest.raises(UserError, match="gravity: expected a number, got True"):
        number("gravity", True)
    with pytest.raises(UserError, match="num_envs: expected a whole number from 1, got True"):
        counts(num_envs=True)
