import math

import numpy as np
import pytest

from mpi_es.evaluation.rank_agreement import agreement, needed, of_one


def test_halves_that_rank_alike_agree_whatever_their_values():
    returns = np.array([[1.0, 5.0], [2.0, 50.0], [3.0, 500.0]])
    assert agreement(returns) == pytest.approx(1)
    assert agreement(returns * [1, -1]) == pytest.approx(-1)


def test_the_correlation_is_that_of_ranks_with_means_for_what_is_equal():
    returns = np.array([[1.0, 2.0], [1.0, 3.0], [4.0, 1.0], [9.0, 9.0]])
    ranks = np.array([[1.5, 2], [1.5, 3], [3, 1], [4, 4]])
    assert agreement(returns) == pytest.approx(np.corrcoef(ranks.T)[0, 1])


def test_of_an_odd_number_the_last_episode_is_left_out():
    returns = np.random.default_rng(0).normal(size=(9, 5))
    assert agreement(returns) == agreement(returns[:, :4])


@pytest.mark.parametrize("returns", [np.zeros((4, 1)), np.zeros((4, 2)), np.array([[1.0, 2.0], [1.0, 3.0]])])
def test_nothing_is_known_where_nothing_tells_the_candidates_apart(returns):
    assert math.isnan(agreement(returns))


@pytest.mark.parametrize("half", [1, 2, 5])
def test_what_single_episodes_tell_gives_the_number_whose_halves_agree(half):
    single = 0.2
    halves = half * single / (1 + (half - 1) * single)  # Spearman and Brown
    assert of_one(halves, 2 * half) == pytest.approx(single)
    assert needed(single, halves) == 2 * half


def test_the_number_for_ranks_by_chance_or_without_noise_is_finite():
    assert needed(-0.3, 0.5) == needed(0.001, 0.5) == 1998
    assert needed(1.0, 0.5) == 2


def test_noise_of_known_size_is_found_again():
    rng = np.random.default_rng(1)
    candidates, episodes, noise = 4000, 8, 2.0  # an episode tells 1 / (1 + 2²) of the variance
    returns = rng.normal(size=(candidates, 1)) + noise * rng.normal(size=(candidates, episodes))
    assert of_one(agreement(returns), episodes) == pytest.approx(0.2, abs=0.02)
