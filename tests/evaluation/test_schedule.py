import numpy as np
import pytest

from mpi_es.evaluation.schedule import Schedule, are_plenty, at_once, first_shares
from tests.evaluation.headers import header


def test_every_candidate_goes_first_once_and_then_the_one_with_the_longest_episodes():
    schedule = Schedule(header(3), np.arange(9))
    assert [schedule.next() for _ in range(3)] == [0, 3, 6]
    schedule.note(0, 10)
    schedule.note(3, 30)
    assert schedule.next() == 4
    schedule.note(4, 2)  # a mean of 16 still is the longest
    schedule.note(6, 13)
    assert [schedule.next() for _ in range(5)] == [5, 7, 8, 1, 2]
    assert schedule.left == 0


def test_units_that_were_played_do_not_go_out_again():
    schedule = Schedule(header(3), np.array([1, 6, 8]))
    assert sorted(schedule.next() for _ in range(3)) == [1, 6, 8]
    assert schedule.left == 0


def test_many_go_out_at_once_while_many_are_left():
    assert [at_once(header(1), left, 2) for left in (1000, 32, 31, 16, 9, 1, 0)] == [4, 4, 3, 2, 1, 1, 0]


def test_a_rank_asks_early_while_each_has_more_than_four_to_come():
    assert are_plenty(9, 2)
    assert not are_plenty(8, 2)


@pytest.mark.parametrize(
    ("unplayed", "ranks", "starts"),
    [(0, 3, [0, 0, 0, 0]), (2, 4, [0, 0, 1, 2, 2]), (100, 3, [0, 0, 4, 8]), (20, 3, [0, 0, 1, 2])],
)
def test_first_shares_are_of_the_ranks_but_0_and_of_no_more_units_than_there_are(unplayed, ranks, starts):
    assert first_shares(header(1, unplayed), ranks) == starts
