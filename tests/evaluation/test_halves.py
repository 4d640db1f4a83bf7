import math

import numpy as np
import pytest

from mpi_es.evaluation.halves import agreement_of_halves


def test_halves_that_rank_alike_agree_whatever_their_values():
    returns = np.array([[1.0, 5.0], [2.0, 50.0], [3.0, 500.0]])
    assert agreement_of_halves(returns) == pytest.approx(1)
    assert agreement_of_halves(returns * [1, -1]) == pytest.approx(-1)


def test_the_correlation_is_that_of_ranks_with_means_for_what_is_equal():
    returns = np.array([[1.0, 2.0], [1.0, 3.0], [4.0, 1.0], [9.0, 9.0]])
    ranks = np.array([[1.5, 2], [1.5, 3], [3, 1], [4, 4]])
    assert agreement_of_halves(returns) == pytest.approx(np.corrcoef(ranks.T)[0, 1])


def test_of_an_odd_number_the_last_episode_is_left_out():
    returns = np.random.default_rng(0).normal(size=(9, 5))
    assert agreement_of_halves(returns) == agreement_of_halves(returns[:, :4])


@pytest.mark.parametrize("returns", [np.zeros((4, 1)), np.zeros((4, 2)), np.array([[1.0, 2.0], [1.0, 3.0]])])
def test_nothing_is_known_where_nothing_tells_the_candidates_apart(returns):
    assert math.isnan(agreement_of_halves(returns))
