import pytest

from mpi_es.agents.episode_seeds import chosen_seeds, seed_ranges
from mpi_es.seeds import Stream, held_out_seeds


@pytest.mark.parametrize(
    ("words", "ranges"), [("fresh", []), ("7", [(7, 7)]), ("0-3,9,5-5", [(0, 3), (9, 9), (5, 5)])]
)
def test_ranges_have_two_ends(words, ranges):
    assert seed_ranges(words) == ranges


def test_seeds_are_the_run_s_or_those_that_are_named():
    assert chosen_seeds("2-4,1", 9, 3).tolist() == [2, 3, 4, 1]
    assert chosen_seeds("held-out", 4, 3).tolist() == held_out_seeds(3, 4).tolist()
    assert chosen_seeds("fresh", 4, 3).tolist() == held_out_seeds(3, 4, Stream.FRESH).tolist()
