import numpy as np
import pytest

from mpi_es.evaluation.messages import arranged, joined
from mpi_es.evaluation.rollout import Episode
from tests.evaluation.headers import header

ROWS = np.stack([np.arange(6.0), 10 * np.arange(6.0), [3, 1, 5, 1, 1, 2]], axis=1)  # episode, return, length


def test_the_candidate_of_a_unit():
    assert header(3).candidate(5) == 1
    assert header(3).candidate(np.array([0, 2, 3, 8])).tolist() == [0, 0, 1, 2]


def test_a_unit_is_an_episode_on_the_seed_of_its_place():
    assert header(3).episode(5, str) == Episode(5, 1, 105, "1", 2)


def test_rows_stand_where_candidate_and_episode_do_whoever_played_them():
    found = arranged(header(2, 6, 6), ROWS[[4, 0, 3, 5, 1, 2]], -0.1)
    assert found.returns.tolist() == [[0, 10], [20, 30], [40, 50]]
    assert (found.lengths.tolist(), found.idle) == ([[3, 1], [5, 1], [1, 2]], 0.0)


def test_evaluations_become_one_with_the_centre_at_its_end():
    rows = np.concatenate([ROWS, ROWS[:, 2:]], axis=1)  # as many observations as steps
    first, second = arranged(header(2, 6, 6), rows, 0.5), arranged(header(2, 4, 4), rows[:4], 0.2)
    found = joined([first, second], popsize=2)
    assert found.returns.tolist() == [[0, 10], [20, 30], [0, 10], [20, 30], [40, 50]]
    assert (
        found.observations[:, 0].tolist() == found.lengths.ravel().tolist() == [3, 1, 5, 1, 3, 1, 5, 1, 1, 2]
    )
    assert found.idle == pytest.approx((13 * 0.5 + 10 * 0.2) / 23)  # by steps


def test_no_unit_may_lack():
    with pytest.raises(AssertionError, match="every episode once"):
        arranged(header(2, 6, 6), ROWS[[0, 1, 2, 3, 4, 4]], 0.0)
