"""Strategies as a run makes them, from plain values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mpi_es.strategies.noise import ComputedNoise


def made(
    cls: Any,
    x0: np.ndarray,
    sigma: float = 0.1,
    popsize: int = 8,
    seed: int = 1,
    noise: Any = None,
    grid: Any = None,
    **options: Any,
) -> Any:
    """Return a strategy with options of its own."""
    every = cls.Options(population_size=popsize, init_sigma=sigma, **options)
    integers = {} if grid is None else {"grid": grid}
    return cls(every, x0, seed, noise or ComputedNoise(seed, len(x0)), **integers)


def evolve(strategy: Any, function: Callable[[np.ndarray], np.ndarray], generations: int) -> float:
    """Run generations of a dense strategy; return the fitness of its centre."""
    for _ in range(generations):
        population = strategy.ask()
        strategy.tell(population, function(population.rows))
    return float(function(strategy.centre[np.newaxis])[0])
