import pytest

from mpi_es.errors import UserError
from mpi_es.worlds.options import step_limit


@pytest.mark.parametrize(("steps", "limit"), [(None, 200), (7, 7), (300, 300), (-1, 0)])
def test_the_users_limit_comes_before_the_registered_one(steps, limit):
    assert step_limit(steps, 200) == limit


@pytest.mark.parametrize("steps", [0, -2, 1.5, True, "7"])
def test_another_limit_is_refused(steps):
    with pytest.raises(UserError, match="max_episode_steps: expected a whole number from 1, or -1, got"):
        step_limit(steps, 200)
