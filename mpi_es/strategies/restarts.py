"""Restarts: IPOP (Auger and Hansen 2005), BIPOP (Hansen 2009), and restarts of a start that learns nothing.

A start has its own seed, from which its centre and all its candidates are drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.errors import expected
from mpi_es.seeds import Stream, rng
from mpi_es.strategies import stopping
from mpi_es.strategies.base import Noise, Population
from mpi_es.strategies.restore import restore

MOST_DOUBLINGS = 9  # of the population, as in the BIPOP paper; later starts keep its size


class Build(Protocol):
    """Makes a start's strategy."""

    def __call__(self, x0: Vector, sigma: float, popsize: int, seed: int, generation: int) -> Any:
        """Return the strategy; `generation` is the run's generation at which the start begins."""
        ...


@dataclass(frozen=True)
class Start:
    """The settings of a start; the first has number 0."""

    number: int
    seed: int
    popsize: int
    sigma: float
    doublings: int = 0  # of the population so far
    small: bool = True  # whether it is one of BIPOP's small starts; the first counts as one, as in pycma
    limit: int = 0  # evaluations after which it ends; 0: no limit


@dataclass(frozen=True)
class RestartsState:
    """The state of a run with restarts between generations; its values are replaced, never written to."""

    generation: int
    x0: Vector  # of the first start
    start: dict[str, Any]
    begun: int  # the generation at which the start began
    evaluations: dict[str, int]  # of all small and of all large starts
    record: stopping.Record
    over: str  # why the start is over: the next ask begins another
    inner: dict[str, Any]  # the state of the start's own strategy


class Restarts:
    """A base.Strategy that restarts another strategy from a new draw whenever that is over.

    Args:
        build: makes the strategy of a start.
        draw: returns the centre (dim,) of a later start, given its seed; None: x0 plus a step of the first
            population.
        rule: ipop, bipop, or none; with none only `if_below` ends a start.
        if_below: a start whose mean fitness is below this after `after` generations ends.
    """

    def __init__(
        self,
        build: Build,
        x0: Vector,
        sigma: float,
        popsize: int,
        seed: int,
        *,
        draw: Callable[[int], Candidate | Vector] | None = None,
        rule: str = "none",
        if_below: float | None = None,
        after: int = 0,
    ) -> None:
        self._build, self._draw = build, draw
        self._sigma, self._popsize, self._seed = sigma, popsize, seed
        self._rule, self._if_below, self._after = rule, if_below, after
        first = Start(0, seed, popsize, sigma)
        self._inner = build(x0, sigma, popsize, seed, 0)
        if hasattr(self._inner, "description"):
            self.description = self._inner.description
        counts = {"small": 0, "large": 0}
        self._state = RestartsState(0, x0, dict(vars(first)), 0, counts, stopping.new_record(), "", {})

    def __getattr__(self, name: str) -> Any:
        if name in ("learning_rate", "ask_more"):  # optional attributes of strategies
            return getattr(self._inner, name)
        raise AttributeError(name)

    @property
    def state(self) -> RestartsState:
        """The state, with that of the start's own strategy."""
        state = self._inner.state
        return replace(self._state, inner={field.name: getattr(state, field.name) for field in fields(state)})

    @state.setter
    def state(self, state: RestartsState) -> None:
        start = Start(**state.start)
        if not 0 < start.popsize <= self._popsize * 2**MOST_DOUBLINGS or start.doublings > MOST_DOUBLINGS:
            raise expected("/state/start/popsize", "the population of a start", start.popsize)
        self._state = replace(state, inner={})
        self._inner = self._build(state.x0, start.sigma, start.popsize, start.seed, state.begun)
        restore(self._inner, state.inner, state.generation)

    @property
    def start(self) -> int:
        """The number of the running start."""
        return int(self._state.start["number"])

    @property
    def begins(self) -> bool:
        """Whether the running start has not been told a generation yet."""
        return self._state.generation == self._state.begun

    @property
    def popsize(self) -> int:
        """The number of candidates that ask returns, perhaps of a new start."""
        return self._next().popsize if self._state.over else self._inner.popsize

    @property
    def centre(self) -> Vector:
        """The centre (dim,) of the running start."""
        centre: Vector = self._inner.centre
        return centre

    @property
    def sigma(self) -> float:
        """The overall step size of the running start."""
        return float(self._inner.sigma)

    def ask(self) -> Population:
        """Return the next population, of a new start if the last one is over."""
        if self._state.over:
            self._begin(self._next())
        population: Population = self._inner.ask()
        return population

    def tell(self, population: Population, fitness: Vector) -> None:
        """Update the running start by one generation, and note whether it is over."""
        self._inner.tell(population, fitness)
        s = self._state
        kind = "small" if s.start["small"] else "large"
        self._state = replace(
            s,
            generation=s.generation + 1,
            evaluations={**s.evaluations, kind: s.evaluations[kind] + len(fitness)},
            record=stopping.extended(s.record, fitness),
        )
        self._state = replace(self._state, over=self._why_over())

    def _why_over(self) -> str:
        """Return why the running start should end; empty if it should continue."""
        record, start = self._state.record, Start(**self._state.start)
        learnt_nothing = self._if_below is not None and record["highest_mean"] < self._if_below
        if learnt_nothing and record["generations"] >= self._after:
            return "its fitness stays below --restart-if-below"
        if self._rule == "none":
            return ""
        if start.limit and record["generations"] * start.popsize >= start.limit:
            return "it has used its evaluations"
        if self._inner.is_exhausted:  # of cma_es
            return "steps are too small for floating-point numbers"
        deviations: Vector = self._inner.deviations
        return stopping.why_over(record, start.popsize, deviations, self._inner.first_deviations)

    def _next(self) -> Start:
        """Return the settings of the next start."""
        s = self._state
        last = Start(**s.start)
        number = last.number + 1
        seed = int(rng(self._seed, Stream.RESTART, number).integers(2**62))
        again = replace(last, number=number, seed=seed, limit=0)
        if self._rule == "none":
            return again
        if self._rule == "bipop" and s.evaluations["small"] < s.evaluations["large"]:
            of_size, of_sigma = rng(self._seed, Stream.RESTART, number, 1).random(2)
            popsize = int(self._popsize * (2**last.doublings / 2) ** (of_size**2))
            limit = s.evaluations["large"] // 2  # as in pycma
            sigma = self._sigma * 10 ** (-2 * float(of_sigma))
            return replace(again, popsize=popsize, sigma=sigma, small=True, limit=limit)
        doublings = min(last.doublings + 1, MOST_DOUBLINGS)
        popsize = self._popsize * 2**doublings
        return replace(again, popsize=popsize, sigma=self._sigma, doublings=doublings, small=False)

    def _begin(self, start: Start) -> None:
        """Begin a start from its own draw."""
        s = self._state
        x0 = None if self._draw is None else np.asarray(self._draw(start.seed), np.float64)
        if x0 is None or (x0.any() and np.array_equal(x0, s.x0)):  # a script's module draws no others
            x0 = s.x0 + self._sigma * rng(start.seed, Stream.INITIAL).standard_normal(len(s.x0))
        self._inner = self._build(x0, start.sigma, start.popsize, start.seed, s.generation)
        self._state = replace(
            s, start=dict(vars(start)), begun=s.generation, record=stopping.new_record(), over=""
        )


class LaterNoise:
    """The noise of a run for a start that counts its own generations: no two starts share a key."""

    def __init__(self, noise: Noise, generation: int) -> None:
        self._noise, self._generation = noise, generation
        self.dim = noise.dim

    def keys(self, generation: int, count: int) -> NDArray[np.int64]:
        """Return the keys (count,) of the perturbations of a start's generation."""
        return self._noise.keys(self._generation + generation, count)

    def row(self, key: int) -> Candidate:
        """Return the perturbation (dim,) of a key."""
        return self._noise.row(key)

    def weighted_sum(self, keys: NDArray[np.int64], weights: Vector) -> Candidate:
        """Return the sum over i of weights[i] * row(keys[i]), (dim,). Collective if the noise is."""
        return self._noise.weighted_sum(keys, weights)
