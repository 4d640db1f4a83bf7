"""mpi_es.evolve and minimise: optimise a function instead of a policy, in any script."""

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.config.run import Config
from mpi_es.config.user_objects import name_of
from mpi_es.errors import RolloutError, UserError, expected, in_words_of_scripts
from mpi_es.evaluation.build import problem_of
from mpi_es.evaluation.function.constraints import ConstraintFunction, count_constraints, with_constraints
from mpi_es.evaluation.function.problem import Function, Problem, as_vector, unused_fields
from mpi_es.evaluation.script_objects import ScriptObjects
from mpi_es.parallel.collective_errors import all_or_raise
from mpi_es.parallel.collectives import Comm, bcast_object
from mpi_es.parallel.script_api import Ranks, on_all_ranks
from mpi_es.run import Run
from mpi_es.run_file.records import FITNESS
from mpi_es.scripts import arguments
from mpi_es.scripts.arguments import OTHER_NAMES, refuse_without_effect
from mpi_es.scripts.running import (
    Callback,
    named_directory,
    plan_of,
    plan_on_ranks,
    ranks_of,
    run,
    table,
    where,
)
from mpi_es.train import Plan, beginning

ARGUMENTS = {  # of evolve, by the option whose name differs
    "init-sigma": "sigma",
    "target-fitness": "goal",
    "target-consecutive": "goal_times",
}
_OF_ARGUMENTS = ("function", "x0", "dim", "bounds", "run_dir")  # fields that evolve's arguments replace
_OTHER_NAMES = OTHER_NAMES | {  # of the command line and of other libraries
    **{option.replace("-", "_"): argument for option, argument in ARGUMENTS.items()},
    "minimize": "minimise=True",
    "maximize": "minimise=False",
    "target": "goal",
    "ftarget": "goal",
    "sigma0": "sigma",
}


@dataclass(frozen=True)
class Result:
    """The result of a run, the same on every rank; values are as the function returns them."""

    x: Vector  # (dim,) the best; for a random function, the centre with the best held-out evaluation
    value: float
    constraints: Vector  # (count,) at x, which is feasible if all are <= 0; empty without constraints
    centre: Vector  # (dim,) of the search, after the last generation
    value_of_centre: float  # NaN where the call failed
    history: dict[str, NDArray[Any]]  # columns (generations,), with the names in run.h5
    evaluations: int
    reason: str  # why the run ended
    run_dir: Path | None  # None where no files are written

    def __repr__(self) -> str:
        shown = np.array2string(self.x, threshold=8, edgeitems=3, precision=6)
        infeasible = "" if self.feasible else "not feasible, "
        told = f"{infeasible}evaluations={self.evaluations}, {self.reason!r}"
        return f"Result(value={self.value:.6g}, x={shown}, {told})"

    @property
    def feasible(self) -> bool:
        """Whether x meets all constraints."""
        return bool((self.constraints <= 0).all())

    def to_pandas(self) -> Any:
        """Return the history as a pandas DataFrame, a row for each generation."""
        return table(self.history)


def evolve(
    function: Function,
    x0: Any,
    sigma: Any = 0.1,
    *,
    minimise: bool = False,
    bounds: Any = None,
    constraints: ConstraintFunction | int = 0,
    integers: Iterable[int] = (),
    goal: float | None = None,
    goal_times: int = 1,
    run_dir: str | Path | None = "",
    callback: Callback | None = None,
    comm: Any = None,
    **options: Any,
) -> Result:
    """Search for the best x of a function, on all ranks of an MPI job if there is one. Collective.

    Under `mpiexec -n N python script.py` every rank calls it with its own function; the other arguments are
    taken from rank 0, and all ranks return the same result. A signal saves the run and raises RunStopped,
    which ends the script with exit code 0.

    Args:
        function: of x (dim,), an array of float64; if it takes an argument `seed`, it is random, and must
            depend on x and seed only. An argument `comm` is an mpi4py communicator of the `ranks_per_call`
            ranks that call it together, `directory` an empty directory for each call.
        x0: (dim,), where the search begins: an array, a list or a torch vector.
        sigma: the standard deviation of the first population, a number or a vector.
        minimise: minimise the function instead of maximising it.
        bounds: lower and upper, each a number or a vector; or a pair for each parameter. None means
            unbounded.
        constraints: a function of x that returns an array (n,); x is feasible if all are <= 0. Or the
            number n, if the function itself returns a pair of value and array.
        integers: indices of the parameters that are integers; only for the strategy cma_es.
        goal: end the run when the best value, or a random function's held-out mean, reaches this.
        goal_times: number of successive generations, or held-out evaluations, that must reach the goal.
        run_dir: directory of the run, which is continued if it exists; empty: a new one in runs/; None: write
            no files.
        callback: called on rank 0 with each Generation; if it returns True, the run ends.
        comm: an mpi4py communicator, whose ranks make the call; None: all ranks of the job.
        options: those of `python -m mpi_es.train` that concern functions, such as population_size=64.
    """
    init_sigma, scale = overall(sigma)
    given = {
        "init_sigma": init_sigma,
        "minimise": minimise,
        "integers": integers,
        "target_fitness": goal,
        "target_consecutive": goal_times,
    }
    directory = named_directory(run_dir)
    made: list[Problem] = []
    called = with_constraints(function, constraints)

    def call(ranks: Ranks) -> Result:
        def prepare() -> Plan:
            if "constraints" not in given:
                given["constraints"] = count_constraints(constraints, x0)
            config = config_of(function, given, options)
            made[:] = made or [problem_of(config, called, x0, bounds, scale)]
            plan = plan_of(config, directory)
            _check_began_with(plan, made[0])
            return plan

        with in_words_of_scripts(ARGUMENTS):
            plan, config = plan_on_ranks(ranks, prepare, directory)
            made[:] = [_with_settings_of_root(ranks.comm, called, made)]
            return run(ranks, plan, config, ScriptObjects(made[0]), callback, _result)

    try:
        return on_all_ranks(call, ranks_of(comm, directory))
    except (RolloutError, UserError) as error:
        raise error.with_traceback(None) from None  # show the caller's line, none of our frames


def minimise(function: Function, x0: Any, sigma: Any = 0.1, **options: Any) -> Result:
    """Search for the x with the lowest value of a function: evolve with minimise=True. Collective."""
    if wrong := {"minimise", "minimize", "maximise", "maximize"} & options.keys():
        raise UserError(f"minimise: expected {min(wrong)} to be left out; mpi_es.evolve maximises")
    return evolve(function, x0, sigma, minimise=True, **options)


def _with_settings_of_root(comm: Comm, function: Function, made: list[Problem]) -> Problem:
    """Return the problem of this rank's function, with rank 0's settings. Collective.

    A script may draw x0 at random, so that it differs between ranks.
    """
    root = made[0] if comm.rank == 0 else None
    after_function = fields(Problem)[1:]
    settings = bcast_object(comm, root and [getattr(root, one.name) for one in after_function])
    return all_or_raise(comm, lambda: Problem(function, *settings))


def _result(run: Run, reason: str) -> Result:
    """Return the result of a run."""
    best, factor = run.best, run.config.sign
    evaluations, last = run.history.evaluations, run.progress.generation
    of_centre = [held_out.mean for held_out in evaluations if held_out.generation == last]
    history = run.history.rows.content() | run.constraints.history
    for name in history.keys() & FITNESS:
        history[name] = factor * history[name] + 0.0  # no -0.0
    return Result(
        x=np.array(best.candidate, np.float64),
        value=factor * best.fitness + 0.0,
        constraints=run.constraints.of_best.copy(),
        centre=run.evaluator.rollout.policy.whole(run.strategy.centre),
        value_of_centre=factor * of_centre[0] + 0.0 if of_centre else math.nan,
        history=history,
        evaluations=run.history.calls,
        reason=reason,
        run_dir=where(run),
    )


def overall(sigma: Any) -> tuple[Any, Any]:
    """Return the overall standard deviation of the first population, and the scale of each parameter."""
    if np.ndim(sigma) == 0:
        return sigma, 1.0
    scales = as_vector("sigma", sigma)
    if not scales.size or not ((scales > 0) & np.isfinite(scales)).all():
        raise expected("sigma", "numbers above 0", scales.tolist())
    mean = float(np.exp(np.log(scales).mean()))
    return mean, scales / mean


def config_of(
    function: Function,
    given: dict[str, Any],
    options: dict[str, Any],
    without: Collection[str] = (),
    caller: Callable[..., Any] = evolve,
) -> Config:
    """Return the config for the arguments; refuse those without effect or of the wrong type.

    Args:
        without: options that the caller does not have.
        caller: the function that was called.
    """
    evolved, others = {"function": name_of(function)}, dict(options)
    if "strategy" in others:
        evolved["strategy"] = others.pop("strategy")
    hidden = {*_OF_ARGUMENTS, *without}
    config = arguments.config_of(caller, evolved, given, others, hidden, other_names=_OTHER_NAMES)
    refuse_without_effect(others, unused_fields(function))
    return config


def _check_began_with(plan: Plan, made: Problem) -> None:
    """Refuse to continue a run with another x0 or other bounds."""
    stored = (plan.stored or {}).get("problem", {})
    now = beginning(made)["problem"]
    for name in stored:
        if not np.array_equal(stored[name], now[name]):
            words = {"x0": "x0 differs", "scale": "sigma differs", "exact": "the function's seed differs"}
            differs = words.get(name, "bounds differ")
            saved = f"the saved run in {plan.directory}"
            raise UserError(f"{differs} from {saved}; choose another run_dir to start a new run")
