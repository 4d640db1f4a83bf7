import numpy as np
import pytest

from mpi_es.seeds import Stream, held_out_seeds, rng, training_seeds


def test_a_draw_depends_on_its_name_only():
    first = rng(7, Stream.SAMPLE, 3).random(4)
    rng(7, Stream.SAMPLE, 4).random(100)
    np.testing.assert_array_equal(rng(7, Stream.SAMPLE, 3).random(4), first)


@pytest.mark.parametrize(
    "other", [(8, Stream.SAMPLE, 3), (7, Stream.NOISE, 3), (7, Stream.SAMPLE, 4), (7, Stream.SAMPLE, 3, 1)]
)
def test_another_name_gives_other_numbers(other):
    assert not np.intersect1d(rng(7, Stream.SAMPLE, 3).random(100), rng(*other).random(100)).size


def test_streams_do_not_overlap_however_much_is_drawn():
    # The index is in the upper words of the counter, which 2^64 blocks would be needed to reach.
    assert rng(1, Stream.NOISE, 5, 6).bit_generator.state["state"]["counter"].tolist() == [0, 5, 6, 0]


def test_training_and_held_out_seeds_are_disjoint():
    training = training_seeds(1, 0, 500, 4, "independent")
    assert training.max() < 2**30 <= held_out_seeds(1, 500).min()
    assert held_out_seeds(1, 500).max() < 2**31


def test_more_held_out_episodes_extend_the_same_seeds():
    np.testing.assert_array_equal(held_out_seeds(3, 100)[:7], held_out_seeds(3, 7))
    assert not np.intersect1d(held_out_seeds(3, 100), held_out_seeds(3, 100, Stream.FRESH)).size


@pytest.mark.parametrize(("sharing", "rows"), [("independent", 7), ("paired", 4), ("common", 1)])
def test_candidates_share_seeds_as_asked(sharing, rows):
    seeds = training_seeds(1, 5, 7, 3, sharing)
    assert seeds.shape == (7, 3)
    assert len(np.unique(seeds, axis=0)) == rows
    if sharing == "paired":
        np.testing.assert_array_equal(seeds[0], seeds[1])


def test_each_generation_has_seeds_of_its_own():
    assert not np.intersect1d(training_seeds(1, 0, 9, 9, "common"), training_seeds(1, 1, 9, 9, "common")).size


def test_batches_of_a_generation_have_other_episode_seeds_unless_these_are_common():
    first, second = (training_seeds(1, 3, 4, 2, "independent", batch) for batch in (0, 1))
    assert not np.intersect1d(first, second).size
    np.testing.assert_array_equal(first, training_seeds(1, 3, 4, 2, "independent"))
    np.testing.assert_array_equal(*(training_seeds(1, 3, 4, 2, "common", batch) for batch in (0, 1)))
