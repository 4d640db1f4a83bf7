"""Strategies as a user writes them, for the tests."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Annotated

import numpy as np

from mpi_es import Dense, Seeded, StrategyOptions, Stream, rng
from mpi_es.config.fields import Range
from mpi_es.errors import RolloutError


@dataclass(frozen=True)
class State:
    generation: int
    centre: np.ndarray
    sigma: float


class BestQuarter:
    """The mean of the best quarter is the next mean."""

    def __init__(self, options, x0, seed, noise):
        self.seed, self.popsize = seed, options.population_size
        self.state = State(0, x0, options.init_sigma)

    @property
    def centre(self):
        return self.state.centre

    @property
    def sigma(self):
        return self.state.sigma

    def ask(self):
        generator = rng(self.seed, Stream.SAMPLE, self.state.generation)
        return Dense(self.centre + self.sigma * generator.standard_normal((self.popsize, len(self.centre))))

    def tell(self, population, fitness):
        best = np.argsort(-fitness, kind="stable")[: max(1, self.popsize // 4)]
        centre = population.rows[best].mean(axis=0)
        self.state = State(self.state.generation + 1, centre, 0.99 * self.sigma)


class Unlucky(BestQuarter):
    """Asks and tells once."""

    def ask(self):
        return super().ask() if self.state.generation == 0 else 1 / 0


class Unluckier(BestQuarter):
    """Never tells."""

    def tell(self, population, fitness):
        raise KeyError("fitness")


class Ascent(BestQuarter):
    """Antithetic pairs, whose noise all ranks make and sum."""

    def __init__(self, options, x0, seed, noise):
        super().__init__(options, x0.astype(np.float32), seed, noise)
        self.noise = noise

    def ask(self):
        keys = self.noise.keys(self.state.generation, self.popsize // 2)
        return Seeded(self.centre, self.sigma, keys)

    def tell(self, population, fitness):
        slopes = np.sign(fitness[::2] - fitness[1::2])
        step = self.noise.weighted_sum(population.keys, slopes) * np.float32(0.2 / self.popsize)
        self.state = State(self.state.generation + 1, self.centre + step, self.sigma)


def function(options, x0, seed, noise):
    return BestQuarter(options, x0, seed, noise)


class Raises(BestQuarter):
    def __init__(self, options, x0, seed, noise):
        raise RuntimeError("no luck\ntoday")


class Deaf:
    popsize, centre, sigma = 4, np.zeros(3), 1.0

    def __init__(self, options, x0, seed, noise): ...

    def ask(self): ...


class Loose(BestQuarter):
    """Its state is no dataclass."""

    def __init__(self, options, x0, seed, noise):
        super().__init__(options, x0, seed, noise)
        self.state = SimpleNamespace(**vars(self.state))


@dataclass(frozen=True)
class Lists(State):
    seen: list


class Listing(BestQuarter):
    def __init__(self, options, x0, seed, noise):
        super().__init__(options, x0, seed, noise)
        self.state = Lists(**vars(self.state), seen=[1, 2])


@dataclass(frozen=True)
class Generators(State):
    generator: dict


class Generating(BestQuarter):
    """Its state holds numpy's, whose integers have 128 bits."""

    def __init__(self, options, x0, seed, noise):
        super().__init__(options, x0, seed, noise)
        state = np.random.PCG64(1).state
        self.state = Generators(**vars(self.state), generator=state)


class Drifting(BestQuarter):
    """Its state becomes what no file can hold."""

    def tell(self, population, fitness):
        super().tell(population, fitness)
        self.state = replace(self.state, sigma=np.float32(self.sigma))


class Named(BestQuarter):
    """It has attributes that are its own business."""

    def __init__(self, options, x0, seed, noise):
        super().__init__(options, x0, seed, noise)
        self.start = x0.copy()


class Leaving(BestQuarter):
    def tell(self, population, fitness):
        raise SystemExit("enough")


class Speechless(BestQuarter):
    def tell(self, population, fitness):
        raise RolloutError


class Insatiable(BestQuarter):
    """It asks for more than fits."""

    def ask_more(self, batch):
        return Dense(super().ask().rows[:, :batch])


class Fixed(BestQuarter):
    """Its state cannot be assigned."""

    def __init__(self, options, x0, seed, noise):
        self.seed, self.popsize, self._state = seed, options.population_size, State(0, x0, 1.0)

    @property
    def state(self):
        return self._state


@dataclass(frozen=True)
class ShareOptions(StrategyOptions):
    share: Annotated[float, Range(0, 1)] = 0.25
    """Share of the candidates whose mean is the next one"""


class BestShare(BestQuarter):
    """Has an option."""

    Options = ShareOptions


class Short(BestQuarter):
    def ask(self):
        return Dense(super().ask().rows[1:])


class Bare(BestQuarter):
    def ask(self):
        return super().ask().rows


class Elsewhere(BestQuarter):
    @property
    def centre(self):
        return self.state.centre[:-1]


class Wide(BestQuarter):
    @property
    def sigma(self):
        return np.full(3, self.state.sigma)


not_callable = 3
