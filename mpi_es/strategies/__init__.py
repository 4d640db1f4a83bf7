"""The registry of strategies: a config names one, or the user's own as package.module:Class."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mpi_es.arrays import Candidate, Vector
from mpi_es.config.run import Config
from mpi_es.config.user_objects import load
from mpi_es.errors import expected, unknown
from mpi_es.run_file.records import sign
from mpi_es.strategies.base import Noise, Strategy
from mpi_es.strategies.cr_fm_nes import CRFMNES
from mpi_es.strategies.ga import GA
from mpi_es.strategies.import_without import import_with_docstrings, import_without
from mpi_es.strategies.openai_es import OpenAIES
from mpi_es.strategies.optimizers import OPTIMIZERS
from mpi_es.strategies.pepg import PEPG
from mpi_es.strategies.restarts import LaterNoise, Restarts
from mpi_es.strategies.shaping import SHAPINGS
from mpi_es.strategies.snes import SNES
from mpi_es.strategies.user_strategy import UserStrategy


def _cma_es(config: Config, x0: Vector, noise: Noise) -> Strategy:
    # Only here, for the workers need no pycma. Nine tenths of its import are for plots and surrogate models,
    # which a user's script may want.
    unused = () if config.is_of_script else ("scipy.stats", "matplotlib")
    with import_without(*unused), import_with_docstrings("cma"):
        from mpi_es.strategies.cma_es import CMAES

    return CMAES(
        x0,
        config.init_sigma,
        config.population_size,
        config.seed,
        config.cma_variant,
        config.root_threads,
        config.sigma_rule,
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


def _snes(config: Config, x0: Vector, noise: Noise) -> Strategy:
    return SNES(
        x0,
        config.init_sigma,
        config.population_size,
        config.seed,
        learning_rate=config.centre_learning_rate,
        lr_decay=config.lr_decay,
        lr_min=config.lr_min,
    )


def _cr_fm_nes(config: Config, x0: Vector, noise: Noise) -> Strategy:
    return CRFMNES(x0, config.init_sigma, config.population_size, config.seed)


def _ga(config: Config, x0: Vector, noise: Noise) -> Strategy:
    return GA(
        x0,
        config.init_sigma,
        config.population_size,
        config.seed,
        parents=config.parents,
        sigma_decay=config.sigma_decay,
        sigma_min=config.sigma_min,
    )


@dataclass(frozen=True)
class Registered:
    """A strategy, and what other parts of a run need to know of it."""

    make: Callable[[Config, Vector, Noise], Any]
    mirrored: bool = False  # candidates 2i and 2i + 1 mirror each other, and may share episode seeds
    seeded: bool = False  # populations may be Seeded, for which all ranks need the noise
    step_option: str = "--init-sigma"  # the option to lower where the centre runs off to infinity


STRATEGIES = {
    "cma_es": Registered(_cma_es),
    "openai_es": Registered(_openai_es, mirrored=True, seeded=True, step_option="--learning-rate"),
    "pepg": Registered(_pepg, mirrored=True, step_option="--learning-rate"),
    "snes": Registered(_snes, step_option="--init-sigma or --centre-learning-rate"),
    "cr_fm_nes": Registered(_cr_fm_nes, mirrored=True),
    "ga": Registered(_ga),
}

# Whose weights, rates or parents are for one size of the population: it cannot grow within a generation.
WITHOUT_BATCHES = ("cma_es", "cr_fm_nes", "ga")


def make(
    config: Config, x0: Vector, noise: Noise, draw: Callable[[int], Candidate | Vector] | None = None
) -> Strategy:
    """Return the config's strategy, started at x0 (dim,).

    Args:
        draw: where a restart begins, by its seed; None: at x0 and a step of the first population.
    """
    registered = find(config.strategy)

    def build(x0: Vector, sigma: float, popsize: int, seed: int, generation: int) -> Strategy:
        own = replace(config, init_sigma=sigma, sigma_min=min(config.sigma_min, sigma))
        own = replace(own, population_size=popsize, seed=seed)
        strategy: Strategy = registered.make(own, x0, LaterNoise(noise, generation) if generation else noise)
        return strategy

    begin = (x0, config.init_sigma, config.population_size, config.seed)
    rule = config.restarts if config.strategy == "cma_es" else "none"
    if rule == "none" and config.restart_if_below is None:
        return build(*begin, 0)
    score = config.restart_if_below
    if_below = None if score is None else sign(config) * score
    return Restarts(build, *begin, draw=draw, rule=rule, if_below=if_below, after=config.restart_after)


def find(name: str) -> Registered:
    """Return a built-in strategy, or one of the user's own, package.module:Class."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    if ":" not in name:
        raise unknown("--strategy", name, [*STRATEGIES, "package.module:Class"])
    made = load("--strategy", name)
    if not callable(made):
        raise expected("--strategy", "package.module:Class, constructed as Class(config, x0, noise)", name)
    return Registered(partial(UserStrategy, name, made), mirrored=True, seeded=True)


def check(config: Config) -> None:
    """Refuse a strategy that there is not, and episode seeds that do not suit it."""
    if config.num_interactions and config.strategy in WITHOUT_BATCHES:
        able = " or ".join(name for name in STRATEGIES if name not in WITHOUT_BATCHES)
        raise expected("--num-interactions", f"0, or --strategy {able}", config.num_interactions)
    if config.num_interactions and 0 < config.popsize_max < config.population_size:
        rule = f"0, or at least --population-size {config.population_size}"
        raise expected("--popsize-max", rule, config.popsize_max)
    mirrored = find(config.strategy).mirrored
    if config.episode_seeds == "paired" and not mirrored:
        rule = f"independent or common with {config.strategy}, which has no mirrored pairs"
        raise expected("--episode-seeds", rule, config.episode_seeds)
