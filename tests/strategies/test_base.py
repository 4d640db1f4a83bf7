import numpy as np
import pytest

from mpi_es.errors import UserError
from mpi_es.strategies.base import Dense, Seeded, WithCentre, alone, check_pairs, joined, row_sum
from mpi_es.strategies.noise import ComputedNoise


def test_a_dense_population_gives_its_rows():
    rows = np.random.default_rng(0).normal(size=(3, 4))
    population = Dense(rows)
    assert len(population) == 3
    np.testing.assert_array_equal(population.candidate(1), rows[1])


def test_after_the_last_candidate_comes_the_centre():
    noise, centre = ComputedNoise(3, 4), np.linspace(-1, 1, 4)
    for population in (Dense(np.zeros((3, 4))), Seeded(centre, 0.5, noise.keys(2, 2))):
        both, last = WithCentre(population, centre), len(population)
        assert len(both) == last + 1
        np.testing.assert_array_equal(both.candidate(last, noise), centre)
        np.testing.assert_array_equal(both.candidate(last - 1, noise), population.candidate(last - 1, noise))


def test_a_seeded_population_lies_in_mirrored_pairs_around_its_centre():
    noise, centre = ComputedNoise(3, 6), np.linspace(-1, 1, 6, dtype=np.float32)
    population = Seeded(centre, 0.5, noise.keys(2, 4))
    assert len(population) == 8
    for pair, key in enumerate(population.keys.tolist()):
        above, below = (population.candidate(2 * pair + i, noise) for i in range(2))
        np.testing.assert_array_equal(above, centre + np.float32(0.5) * noise.row(key))
        np.testing.assert_allclose(above - centre, centre - below, atol=1e-6)


@pytest.mark.parametrize("popsize", [-2, 0, 1, 7])
def test_a_population_that_is_no_pairs_is_refused(popsize):
    with pytest.raises(UserError, match=f"--population-size: expected an even .*, got {popsize}"):
        check_pairs(popsize)
    check_pairs(2)


def test_a_weighted_sum_of_rows_is_that_of_the_matrix_product() -> None:
    rows, weights = np.arange(6.0).reshape(3, 2), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(row_sum(weights, rows), weights @ rows)


def test_populations_become_one():
    noise, centre = ComputedNoise(3, 4), np.ones(4)
    rows = [joined([Dense(np.zeros((2, 4))), Dense(np.ones((3, 4)))]).candidate(i)[0] for i in range(5)]
    assert rows == [0, 0, 1, 1, 1]
    keys = noise.keys(1, 5)
    both = joined([Seeded(centre, 0.5, keys[:2]), Seeded(centre, 0.5, keys[2:])])
    np.testing.assert_array_equal(both.keys, keys)


def test_a_centre_alone_is_the_only_candidate():
    noise, centre = ComputedNoise(3, 4), np.linspace(-1, 1, 4)
    population = alone(centre)
    assert len(population) == 1
    np.testing.assert_array_equal(population.candidate(0, noise), centre)
