"""The registry of strategies: a config names one, or the user's own as package.module:Class."""

from collections.abc import Callable
from functools import partial
from typing import Any

from mpi_es.arrays import Vector
from mpi_es.config.run import Config
from mpi_es.config.user_objects import load
from mpi_es.errors import expected, unknown
from mpi_es.strategies.base import Noise, Strategy
from mpi_es.strategies.import_without import import_without
from mpi_es.strategies.openai_es import OpenAIES
from mpi_es.strategies.optimizers import OPTIMIZERS
from mpi_es.strategies.pepg import PEPG
from mpi_es.strategies.shaping import SHAPINGS
from mpi_es.strategies.user_strategy import UserStrategy


def _cma_es(config: Config, x0: Vector, noise: Noise) -> Strategy:
    # Only here, for the workers need no pycma. Nine tenths of its import are for plots and surrogate models.
    with import_without("scipy.stats", "matplotlib"):
        from mpi_es.strategies.cma_es import CMAES

    return CMAES(
        x0,
        config.init_sigma,
        config.population_size,
        config.seed,
        config.cma_variant,
        config.root_threads,
    )


def _openai_es(config: Config, x0: Vector, noise: Noise) -> Strategy:
    return OpenAIES(
        x0,
        config.init_sigma,
        config.population_size,
        noise,
        SHAPINGS[config.shaping],
        OPTIMIZERS[config.optimizer](config.momentum, config.max_speed),
        learning_rate=config.learning_rate,
        lr_decay=config.lr_decay,
        lr_min=config.lr_min,
        sigma_decay=config.sigma_decay,
        sigma_min=config.sigma_min,
        weight_decay=config.weight_decay,
    )


def _pepg(config: Config, x0: Vector, noise: Noise) -> Strategy:
    return PEPG(
        x0,
        config.init_sigma,
        config.population_size,
        config.seed,
        SHAPINGS[config.shaping],
        OPTIMIZERS[config.optimizer](config.momentum, config.max_speed),
        learning_rate=config.learning_rate,
        lr_decay=config.lr_decay,
        lr_min=config.lr_min,
        sigma_min=config.sigma_min,
        sigma_learning_rate=config.sigma_learning_rate,
        sigma_max_change=config.sigma_max_change,
        weight_decay=config.weight_decay,
    )


STRATEGIES: dict[str, Callable[[Config, Vector, Noise], Strategy]] = {
    "cma_es": _cma_es,
    "openai_es": _openai_es,
    "pepg": _pepg,
}


def make(config: Config, x0: Vector, noise: Noise) -> Strategy:
    """Return the config's strategy, started at x0 (dim,); one that takes no noise may be given None."""
    strategy: Strategy = find(config.strategy)(config, x0, noise)
    return strategy


def takes_noise(name: str) -> bool:
    """Tell whether a strategy may return a Seeded population, for which all ranks need the noise."""
    return name == "openai_es" or ":" in name


def find(name: str) -> Callable[[Config, Vector, Noise], Any]:
    """Return what makes a strategy, or refuse a name that names none."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    if ":" not in name:
        raise unknown("--strategy", name, [*STRATEGIES, "package.module:Class"])
    made = load("--strategy", name)
    if not callable(made):
        raise expected("--strategy", "package.module:Class, constructed as Class(config, x0, noise)", name)
    return partial(UserStrategy, name, made)
