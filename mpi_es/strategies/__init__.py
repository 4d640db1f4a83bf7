"""Strategies by name: a built-in one, or the user's as package.module:Class."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mpi_es.arrays import Candidate, Vector
from mpi_es.config.run import STRATEGIES, Config, default
from mpi_es.config.user_objects import load
from mpi_es.errors import expected
from mpi_es.strategies.base import Noise, Options, Strategy, WithNoise
from mpi_es.strategies.integer_centering import Grid
from mpi_es.strategies.restarts import LaterNoise, Restarts
from mpi_es.strategies.user_strategy import UserStrategy


def class_of(options: Options) -> Any:
    """Return the class of a strategy; the user's may be any callable of options, x0, seed and noise."""
    found = load("--strategy", STRATEGIES.get(options.name, options.name))
    if not callable(found):
        rule = "package.module:Class, constructed as Class(options, x0, seed, noise)"
        raise expected("--strategy", rule, options.name)
    return found


def is_own(options: Options) -> bool:
    """Return whether a strategy is the user's own."""
    return options.name not in STRATEGIES


def make(
    config: Config,
    x0: Vector,
    noise: Noise,
    draw: Callable[[int], Candidate | Vector] | None = None,
    grid: Grid | None = None,
) -> Any:
    """Return the config's strategy, started at x0 (dim,).

    Args:
        draw: returns the start of a restart, given its seed; None: x0 plus a step of the first population.
        grid: which parameters are integers; None: all are continuous.
    """
    integers = {} if grid is None else {"grid": grid}
    options, found = config.strategy, class_of(config.strategy)

    def build(x0: Vector, sigma: float, popsize: int, seed: int, generation: int) -> Any:
        own = options.of_later_start(len(x0), sigma, popsize) if generation else options
        its_noise = LaterNoise(noise, generation) if generation else noise
        if is_own(options):
            return UserStrategy(found, own, x0, seed, its_noise)
        return found(own, x0, seed, its_noise, **integers)

    begin = (x0, options.init_sigma, options.population_size, config.seed)
    if config.restarts == "none" and config.restart_if_below is None:
        return build(*begin, 0)
    score, rule = config.restart_if_below, config.restarts
    if_below = None if score is None else config.sign * score
    return Restarts(build, *begin, draw=draw, rule=rule, if_below=if_below, after=config.restart_after)


def rank_of_noise(options: Options) -> int:
    """Return the rank of a strategy's perturbations of matrices; 0: full rank."""
    return options.noise_rank if isinstance(options, WithNoise) and options.noise == "low-rank" else 0


def kind_of_noise(options: Options) -> Options:
    """Return options of a built-in strategy with noise of the same rank."""
    rank = rank_of_noise(options)
    noise = {"noise": "low-rank", "noise_rank": rank} if rank else {}
    strategy: Options = replace(default("strategy", "openai_es"), **noise)
    return strategy


def step_option(options: Options) -> str:
    """Return the option to lower if the centre diverges."""
    return str(getattr(class_of(options), "step_option", Strategy.step_option))


def check(config: Config) -> None:
    """Refuse a strategy that does not exist, and episode seeds and integers that do not suit it."""
    mirrored = is_own(config.strategy) or class_of(config.strategy).mirrored
    if config.episode_seeds == "paired" and not mirrored:
        rule = f"independent or common with {config.strategy.name}, which has no mirrored pairs"
        raise expected("--episode-seeds", rule, config.episode_seeds)
    if config.integers and config.strategy.name != "cma_es":
        raise expected("--integers", "none, except with --strategy cma_es", [*config.integers])
