import numpy as np

from mpi_es.strategies.snes import SNES
from tests.strategies.making import evolve, made


def ellipsoid(rows: np.ndarray) -> np.ndarray:
    return -(np.logspace(0, 4, rows.shape[-1]) * np.square(rows)).sum(axis=-1)


def test_one_generation_is_the_papers() -> None:
    """Algorithm 6 of arXiv:1106.4487, with table 1's rates and utilities, candidate by candidate."""
    strategy = made(SNES, np.arange(4.0), 0.5, 6, seed=1)
    population = strategy.ask()
    order = [3, 0, 5, 1, 4, 2]  # the best first
    fitness = np.empty(6)
    fitness[order] = np.arange(6, 0, -1.0)
    raw = [max(0, np.log(6 / 2 + 1) - np.log(k)) for k in range(1, 7)]
    mu, log_sigma = np.zeros(4), np.zeros(4)
    for utility, candidate in zip(raw, order, strict=True):
        step = (population.rows[candidate] - np.arange(4.0)) / 0.5
        mu += (utility / sum(raw) - 1 / 6) * step
        log_sigma += (utility / sum(raw) - 1 / 6) * (step**2 - 1)
    strategy.tell(population, fitness)
    rate = (3 + np.log(4)) / (5 * np.sqrt(4))
    np.testing.assert_allclose(strategy.centre, np.arange(4.0) + 0.5 * mu)
    np.testing.assert_allclose(strategy.state.sigma, 0.5 * np.exp(rate / 2 * log_sigma))


def test_it_learns_the_scales_of_an_ellipsoid() -> None:
    strategy = made(SNES, np.ones(8), 0.5, 16, seed=1)
    assert evolve(strategy, ellipsoid, 400) > -1e-8
    assert strategy.state.sigma[0] > 10 * strategy.state.sigma[-1]  # 1e4 to the power 1/2, about


def test_a_learning_rate_scales_the_steps_of_the_centre_and_decays_to_its_floor() -> None:
    one = made(SNES, np.ones(3), 0.1, 8, seed=1)
    other = made(SNES, np.ones(3), 0.1, 8, seed=1, centre_learning_rate=3.0, lr_decay=0.5, lr_min=1.0)
    population, fitness = one.ask(), np.arange(8.0)
    one.tell(population, fitness)
    other.tell(population, fitness)
    np.testing.assert_allclose(other.centre - 1, 3 * (one.centre - 1))
    np.testing.assert_array_equal(other.state.sigma, one.state.sigma)
    assert other.learning_rate == 1.5
    other.tell(other.ask(), fitness)
    assert other.learning_rate == 1.0


def test_only_the_order_of_fitness_matters() -> None:
    one, other = (made(SNES, np.ones(3), 0.1, 8, seed=1) for _ in range(2))
    fitness = np.array([3.0, -1.0, 2.0, 2.5, 0.0, 7.0, -np.inf, 1.0])
    one.tell(one.ask(), fitness)
    other.tell(other.ask(), np.exp(fitness))
    np.testing.assert_array_equal(one.centre, other.centre)


def test_a_search_that_has_converged_goes_on() -> None:
    strategy = made(SNES, np.zeros(3), 1e-99, 8, seed=1)
    evolve(strategy, ellipsoid, 50)
    assert np.isfinite(strategy.state.centre).all()
    assert (strategy.state.sigma >= 1e-100).all()


def test_one_parameter_is_enough() -> None:
    assert evolve(made(SNES, np.ones(1), 0.5, 8, seed=1), ellipsoid, 100) > -1e-8
