"""A user's strategy: made from its class, and checked for what the loop and the run file need."""

import dataclasses
import traceback
from collections.abc import Callable
from typing import Any, get_type_hints

import numpy as np

from mpi_es.arrays import Vector
from mpi_es.errors import OutOfStep, RolloutError, UserError, expected, one_line
from mpi_es.run_file.description import to_plain
from mpi_es.run_file.storable import HOLDS, check_storable
from mpi_es.strategies.base import Dense, Population, Seeded, check_pairs

REQUIRED = ("ask", "tell", "popsize", "centre", "sigma", "state")
_NUMBERS = "biuf"  # kinds of arrays


class UserStrategy:
    """A wrapper of a user's strategy that checks its populations and states.

    Args:
        make: the class, called with the other arguments.
    """

    def __init__(self, make: Callable[..., Any], options: Any, x0: Vector, seed: int, noise: Any) -> None:
        self.name, self._option, self._dim = options.name, f"--strategy {options.name}", len(x0)
        try:
            self._strategy = make(options, x0, seed, noise)
            required = (*REQUIRED, "ask_more") if getattr(options, "num_interactions", 0) else REQUIRED
            missing = [needed for needed in required if not hasattr(self._strategy, needed)]
        except UserError:
            raise
        except (Exception, SystemExit) as error:
            raise UserError(f"{self._option}: its constructor failed: {one_line(error)}") from error
        if missing:
            text = f"expected {', '.join(required)}, got a strategy without {', '.join(missing)}"
            raise UserError(f"{self._option}: {text}")
        try:
            float(self._strategy.sigma)
        except (TypeError, ValueError) as error:
            raise expected(f"{self._option}: sigma", "a number", self._strategy.sigma) from error
        self._check_array("centre", self._strategy.centre, (self._dim,))
        self._check_resume()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._strategy, name)

    @property
    def state(self) -> Any:
        """The strategy's state; refused if a run file cannot hold it."""
        state = self._strategy.state
        if not dataclasses.is_dataclass(state) or isinstance(state, type):
            raise expected(f"{self._option}: state", f"a dataclass of {HOLDS}", type(state).__name__)
        check_storable(to_plain(state), f"{self._option}: state")
        return state

    @state.setter
    def state(self, state: Any) -> None:
        self._strategy.state = state

    def ask(self) -> Population:
        """Return the population of the next generation."""
        return self._population("ask")

    def ask_more(self, batch: int) -> Population:
        """Return another population of the same generation, for --num-interactions."""
        return self._population("ask_more", batch)

    def _population(self, method: str, *arguments: int) -> Population:
        """Return the population from a method of the strategy; refuse an invalid one."""
        population: Any = self._attempt(method, *arguments)
        popsize = self._strategy.popsize
        if isinstance(population, Dense):
            self._check_array(method, population.rows, (popsize, self._dim))
            return population
        if isinstance(population, Seeded):
            check_pairs(popsize)
            self._check_array(f"{method}, centre", population.centre, (self._dim,))
            self._check_array(f"{method}, keys", population.keys, (popsize // 2,))
            return Seeded(population.centre, float(population.sigma), population.keys.astype(np.int64))
        got = type(population).__name__
        raise expected(f"{self._option}: {method}", "a Dense or a Seeded population", got)

    def tell(self, population: Population, fitness: Vector) -> None:
        """Tell the strategy the fitness of its population."""
        self._attempt("tell", population, fitness)

    def _attempt(self, method: str, *arguments: Any) -> Any:
        """Return the result of a method of the strategy; name the strategy if it raises."""
        try:
            return getattr(self._strategy, method)(*arguments)
        except (UserError, RolloutError, OutOfStep):  # OutOfStep: from noise.weighted_sum
            raise
        except (Exception, SystemExit) as error:  # the other ranks would wait for ever
            text = f"{self._option}: {method} failed: {one_line(error)}"
            raise RolloutError(f"{text}\n{traceback.format_exc()}") from error

    def _check_array(self, what: str, value: Any, shape: tuple[int, ...]) -> None:
        """Refuse anything but an array of numbers of that shape."""
        if not (isinstance(value, np.ndarray) and value.dtype.kind in _NUMBERS and value.shape == shape):
            got = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
            raise expected(f"{self._option}: {what}", f"an array of numbers {shape}", got)

    def _check_resume(self) -> None:
        """Refuse a state that a resumed run could not rebuild from its fields and assign."""
        state = self.state
        try:
            get_type_hints(type(state))
            self.state = type(state)(**to_plain(state))
        except Exception as error:
            text = "cannot be rebuilt from its fields and assigned, as a resumed run does"
            raise UserError(f"{self._option}: its state {text}: {one_line(error)}") from error
