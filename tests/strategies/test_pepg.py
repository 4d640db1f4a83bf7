from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mpi_es.strategies.pepg import PEPG
from tests.strategies.making import evolve, made

ASCENT = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 1.0}


def build(x0: np.ndarray, popsize: int = 8, shaping: str = "centered", **options: Any) -> PEPG:
    return made(PEPG, x0, 0.1, popsize, shaping=shaping, **{"learning_rate": 0.05, **options})


def sphere(rows: np.ndarray) -> np.ndarray:
    return -np.square(rows).sum(axis=-1)


def ellipsoid(rows: np.ndarray) -> np.ndarray:
    return -(np.logspace(0, 3, rows.shape[-1]) * np.square(rows)).sum(axis=-1)


@pytest.mark.parametrize("popsize", [4, 8, 32])
@pytest.mark.parametrize("shaping", ["centered", "standardized", "raw"])
def test_the_deviations_move_as_in_evotorch_and_estool(shaping: str, popsize: int) -> None:
    """They are moved by centred ranks, whatever moves the centre; estool divides by all candidates."""
    strategy = build(np.arange(3.0), popsize, shaping, sigma_learning_rate=0.1, sigma_max_change=0.9)
    population, sigma = strategy.ask(), strategy.state.sigma
    ranks = np.random.default_rng(7).permutation(popsize)
    fitness = ranks if shaping == "centered" else ranks / (popsize - 1) - 0.5
    r = ranks / (popsize - 1) - 0.5
    noise = population.rows[0::2] - strategy.centre
    total = ((r[0::2] + r[1::2]) / 2) @ ((noise**2 - sigma**2) / sigma)
    evotorch, estool = total / (popsize // 2), total / popsize
    strategy.tell(population, fitness.astype(float))
    np.testing.assert_allclose(strategy.state.sigma, sigma + 0.1 * evotorch, rtol=1e-14)
    np.testing.assert_allclose(strategy.state.sigma, sigma + 0.2 * estool, rtol=1e-14)


def test_the_centre_moves_as_in_estool() -> None:
    strategy = build(np.arange(3.0), shaping="standardized", **ASCENT)
    population = strategy.ask()
    reward = np.array([3.0, -1.0, 2.0, 2.5, 0.0, 7.0, -4.0, 1.0])
    reward = (reward - reward.mean()) / reward.std()
    change = (reward[0::2] - reward[1::2]) @ (population.rows[0::2] - strategy.centre)
    strategy.tell(population, reward)
    np.testing.assert_allclose(strategy.centre, np.arange(3.0) + change / 8, rtol=1e-6)


@pytest.mark.parametrize(("function", "best"), [(sphere, -1e-4), (ellipsoid, -1e-2)])
def test_it_solves(function: Callable[[np.ndarray], np.ndarray], best: float) -> None:
    assert evolve(build(np.ones(6), popsize=32), function, 250) > best


def test_deviations_grow_on_a_slope_that_steepens_and_shrink_at_a_peak() -> None:
    def trough(rows: np.ndarray) -> np.ndarray:
        return rows[:, 0] ** 2 - rows[:, 1] ** 2  # the farther the better; the nearer the better

    strategy = build(np.zeros(2), popsize=64, learning_rate=1e-9)
    for _ in range(20):
        population = strategy.ask()
        strategy.tell(population, trough(population.rows))
    assert strategy.state.sigma[0] > 0.12
    assert strategy.state.sigma[1] < 0.08


def test_a_deviation_changes_no_more_than_it_may() -> None:
    strategy = build(np.zeros(50), popsize=4, sigma_learning_rate=100.0, sigma_max_change=0.2)
    strategy.tell(strategy.ask(), np.array([2.0, 3.0, 0.0, 1.0]))
    sigma = strategy.state.sigma
    assert sigma.min() == pytest.approx(0.08)
    assert sigma.max() == pytest.approx(0.12)


def test_deviations_keep_to_their_floor() -> None:
    strategy = build(np.zeros(3), popsize=16, sigma_min=0.09)
    evolve(strategy, sphere, 40)
    assert strategy.state.sigma.min() == 0.09


def test_the_scale_of_raw_fitness_does_not_change_the_deviations() -> None:
    small, large = (build(np.zeros(3), shaping="raw") for _ in range(2))
    fitness = np.array([3.0, -1.0, 2.0, 2.5, 0.0, 7.0, -4.0, 1.0])
    small.tell(small.ask(), fitness)
    large.tell(large.ask(), 500 * fitness + 1000)
    np.testing.assert_allclose(small.state.sigma, large.state.sigma)


def test_weight_decay_pulls_towards_zero() -> None:
    strategy = build(np.array([1.0, -2.0]), weight_decay=0.5, **ASCENT)
    strategy.tell(strategy.ask(), np.zeros(8))
    np.testing.assert_allclose(strategy.centre, [0.95, -1.9], rtol=1e-6)  # by 0.5 sigma


def test_the_learning_rate_decays_to_its_floor() -> None:
    strategy = build(np.zeros(2), lr_decay=0.5, lr_min=0.02)
    evolve(strategy, sphere, 3)
    assert strategy.state.learning_rate == 0.02
