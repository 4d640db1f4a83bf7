"""mpi_es.Search: ask for candidates and tell their values; the caller calls the function."""

import math
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.config.run import Config
from mpi_es.errors import UserError, expected, in_words_of_scripts
from mpi_es.evaluation.build import make_evaluator, problem_of
from mpi_es.evaluation.function.problem import NO_NUMBER, OF_RANDOM, Problem, as_number, as_vector, short
from mpi_es.evaluation.messages import Evaluation
from mpi_es.evaluation.script_objects import ScriptObjects
from mpi_es.evolve_function import ARGUMENTS, config_of, overall
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file import checkpoint, description, imports, schema
from mpi_es.run_file.atomic_write import write_whole
from mpi_es.run_file.run_status import stamp
from mpi_es.strategies.base import Population
from mpi_es.train import Plan, make_run

_OF_RUNS = (  # options that a search without calls and files has no use for
    "call_dirs",
    "call_timeout",
    "callback",
    "checkpoint_interval",
    "console",
    "dedicated_root",
    "dispatch",
    "evaluation_timeout",
    "on_failure",
    "on_rank_loss",
    "ranks_per_call",
    "run_dir",
    "tensorboard",
)


class Search:
    """A search for the best x of a function that the caller calls; `evolve` is this in a loop.

        search = mpi_es.Search(x0, sigma, minimise=True)
        while not search.done:
            search.tell([function(x) for x in search.ask()])
        print(search.best, search.best_value)

    Args:
        x0, sigma, minimise, bounds, integers, goal, goal_times, options: those of `evolve`.
        constraints: the number of constraints.
    """

    def __init__(
        self,
        x0: Any,
        sigma: Any = 0.1,
        *,
        minimise: bool = False,
        bounds: Any = None,
        constraints: int = 0,
        integers: Iterable[int] = (),
        goal: float | None = None,
        goal_times: int = 1,
        **options: Any,
    ) -> None:
        init_sigma, scale = overall(sigma)
        given = {
            "console": "silent",
            "tensorboard": False,
            "init_sigma": init_sigma,
            "minimise": minimise,
            "constraints": constraints,
            "integers": integers,
            "target_fitness": goal,
            "target_consecutive": goal_times,
        }
        try:
            with in_words_of_scripts(ARGUMENTS):
                config = config_of(_told, given, options, (*_OF_RUNS, *OF_RANDOM), Search)
                self._begin(config, problem_of(config, _told, x0, bounds, scale))
        except UserError as error:
            raise error.with_traceback(None) from None

    def _begin(self, config: Config, made: Problem, stored: dict[str, Any] | None = None) -> None:
        """Begin, or continue from the content of a file."""
        evaluator = make_evaluator(SerialComm(), config, StopFlag(), objects=ScriptObjects(made))
        plan = Plan("mpi_es.train", config, checkpoint.NOWHERE, b"", stored)
        self._run = make_run(plan, evaluator)
        self._run.keep()
        self._asked: Population | None = None

    @in_words_of_scripts(ARGUMENTS)
    def ask(self) -> Vector:
        """Return the candidates (population size, dim) of the next generation, the same until tell."""
        population = self._asked = self._asked or self._run.ask()
        whole, noise = self._run.evaluator.rollout.policy.whole, self._run.evaluator.noise
        return np.stack([whole(population.candidate(index, noise)) for index in range(len(population))])

    @in_words_of_scripts(ARGUMENTS)
    def tell(self, values: Any, constraints: Any = None) -> None:
        """Complete a generation with the values (population size,) of its candidates, in the order of ask.

        A candidate ranks last if its value or a constraint is NaN; at least one candidate must have neither.

        Args:
            constraints: (population size, count), if the search has constraints.
        """
        if self._asked is None:
            raise UserError("Search.tell: expected a call of ask first")
        told = _numbers(values)
        returns = self._run.config.sign * told
        if returns.shape != (len(self._asked),):
            raise expected("Search.tell", f"values of shape ({len(self._asked)},)", returns.shape)
        count = self._run.constraints.count
        none = np.zeros((len(returns), 0))
        limits = none if constraints is None else as_vector("Search.tell", constraints)
        if limits.shape != (len(returns), count):
            raise expected("Search.tell", f"constraints of shape ({len(returns)}, {count})", limits.shape)
        infinite = [*told[np.isinf(told)], *limits[np.isinf(limits)]]
        if infinite:
            raise expected("Search.tell", "finite values, or NaN of calls that failed", float(infinite[0]))
        failed = np.isnan(limits).any(axis=1) | np.isnan(returns)
        if failed.all():
            raise expected("Search.tell", "a value that is not NaN", math.nan)
        returns, limits = np.where(failed, np.nan, returns), np.where(failed[:, None], np.nan, limits)
        ones: NDArray[np.int64] = np.ones((len(returns), 1), np.int64)
        observed = np.zeros((len(returns), 0))
        evaluation = Evaluation(returns[:, None], ones, observed, limits[:, None], idle=0.0)
        asked, self._asked = self._asked, None
        self._run.tell(asked, evaluation)

    @property
    def best(self) -> Vector | None:
        """The best x (dim,) so far; None before the first tell."""
        found = self._run.best.candidate
        return np.array(found, np.float64) if found.size else None

    @property
    def best_value(self) -> float:
        """The value of the best x; NaN before the first tell."""
        return self._run.config.sign * self._run.best.fitness + 0.0 if self.best is not None else math.nan

    @property
    def best_constraints(self) -> Vector:
        """The constraints (count,) of the best x, which is feasible where all are <= 0."""
        return self._run.constraints.of_best.copy()

    @property
    def centre(self) -> Vector:
        """The centre (dim,) of the search."""
        centre: Vector = self._run.evaluator.rollout.policy.whole(self._run.strategy.centre)
        return centre

    @property
    def sigma(self) -> float:
        """The overall standard deviation."""
        return float(self._run.strategy.sigma)

    @property
    def generation(self) -> int:
        """The number of completed generations."""
        return self._run.progress.generation

    @property
    def done(self) -> str:
        """Why the search is over: a goal, a limit, or convergence; empty, and so false, while it is not."""
        end = self._run.why_over()
        return end.reason if end else ""

    def save(self, file: str | os.PathLike[str]) -> None:
        """Save the search as it is after the last tell."""
        write_whole(Path(file), self._image(), "Search.save")

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> "Search":
        """Return a saved search, which continues exactly."""
        path = Path(file)
        path = path / checkpoint.NAME if path.is_dir() else path
        if not path.exists():
            raise expected("Search.load", "a file of Search.save, or the directory of a run", os.fspath(file))
        stored = checkpoint.decode(path, schema.check)
        if "problem" not in stored or len(stored["config"]["x0"]):
            raise expected("Search.load", "a file of Search.save", os.fspath(file))
        if not stored["problem"]["exact"]:
            raise expected("Search.load", "a search whose function takes no seed", os.fspath(file))
        imports.check(
            description.config_of(Config, stored["config"]), path, allowed=True, fields=["strategy"]
        )
        search = cls.__new__(cls)
        search._continue(stored)
        return search

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle holds: a file's bytes, and whether it waits for values."""
        return {"image": self._image(), "asked": self._asked is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._continue(checkpoint.content_of(state["image"], Path("Search"), schema.check))
        if state["asked"]:
            self._asked = self._run.ask()

    def _image(self) -> bytes:
        """Return the bytes of a file with the search after the last tell."""
        return bytes(checkpoint.encode(self._run.content() | {"life": stamp()}))

    def _continue(self, stored: dict[str, Any]) -> None:
        """Continue from the content of a file."""
        of_run = description.config_of(Config, stored["config"], imports=True)
        config = replace(of_run, console="silent", tensorboard=False, callback="")
        x0, lower, upper, scale = (stored["problem"][name] for name in ("x0", "lower", "upper", "scale"))
        self._begin(config, problem_of(config, _told, x0, (lower, upper), scale), stored)


def _told(x: Vector) -> float:
    """Stand for the function that the caller calls."""
    raise UserError("Search: expected the caller to call the function")


def _numbers(values: Any) -> Vector:
    """Return the values that were told; each may be a one-element array or tensor."""
    try:
        return np.array([as_number(one) for one in values], np.float64)
    except NO_NUMBER as error:
        raise expected("Search.tell", "a number for each candidate", short(values)) from error
