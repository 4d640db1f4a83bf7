import numpy as np

from mpi_es.strategies.ga import GA
from tests.strategies.making import made


def sphere(rows: np.ndarray) -> np.ndarray:
    return -np.square(rows).sum(axis=-1)


def told(strategy: GA, fitness: np.ndarray) -> np.ndarray:
    """Ask, tell a fitness, and return what was asked."""
    population = strategy.ask()
    strategy.tell(population, fitness)
    return population.rows


def test_the_best_candidate_is_the_centre_and_comes_again_as_it_was() -> None:
    strategy = made(GA, np.zeros(3), 0.1, 8, seed=1)
    rows = told(strategy, np.array([0.0, 1.0, 2.0, 9.0, 4.0, 5.0, 6.0, 7.0]))
    np.testing.assert_array_equal(strategy.centre, rows[3])
    np.testing.assert_array_equal(strategy.ask().rows[0], rows[3])


def test_only_the_best_have_children() -> None:
    strategy = made(GA, np.zeros(2), 1.0, 400, seed=1, parents=3)
    rows = told(strategy, np.arange(400.0))
    strategy.state = type(strategy.state)(1, strategy.state.parents, 1e-9)
    children = strategy.ask().rows[1:]
    nearest = np.square(children[:, np.newaxis] - rows).sum(axis=2).argmin(axis=1)
    assert set(nearest) == {399, 398, 397}
    assert np.bincount(nearest)[397:].min() > 100  # of 399, drawn uniformly


def test_without_a_number_a_tenth_has_children() -> None:
    for popsize, parents in ((4, 1), (50, 5)):
        strategy = made(GA, np.zeros(2), 0.1, popsize, seed=1)
        told(strategy, np.arange(float(popsize)))
        assert len(strategy.state.parents) == parents


def test_of_an_exact_function_the_elite_never_becomes_worse() -> None:
    strategy = made(GA, np.ones(5), 0.3, 10, seed=1)
    values = []
    for _ in range(60):
        population = strategy.ask()
        strategy.tell(population, sphere(population.rows))
        values.append(sphere(strategy.centre))
    assert np.diff(values).min() >= 0
    assert values[-1] > -0.5


def test_an_elite_that_was_lucky_loses_its_place_when_it_is_evaluated_again() -> None:
    strategy = made(GA, np.zeros(2), 0.1, 4, seed=1)
    lucky = told(strategy, np.array([0.0, 9.0, 1.0, 2.0]))[1]
    told(strategy, np.array([0.0, 3.0, 1.0, 2.0]))
    assert np.abs(strategy.centre - lucky).max() > 0


def test_mutations_shrink_to_their_floor() -> None:
    strategy = made(GA, np.ones(3), 0.8, 8, seed=1, sigma_decay=0.5, sigma_min=0.3)
    seen = []
    for _ in range(3):
        told(strategy, np.zeros(8))
        seen.append(strategy.sigma)
    assert seen == [0.4, 0.3, 0.3]


def test_two_candidates_are_the_elite_and_a_child() -> None:
    rows = made(GA, np.ones(3), 0.1, 2, seed=1).ask().rows
    np.testing.assert_array_equal(rows[0], np.ones(3))
    assert (rows[1] != 1).all()
