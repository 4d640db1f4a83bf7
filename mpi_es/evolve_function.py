"""mpi_es.evolve: the door for a function instead of a policy in an environment, in any script."""

import math
import os
import re
import sys
import traceback
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es import strategies
from mpi_es.arrays import Vector
from mpi_es.config.fields import option as flag
from mpi_es.config.parts import built, declared, every, without_effect
from mpi_es.config.run import Config
from mpi_es.errors import RolloutError, UserError, one_line, unknown
from mpi_es.evaluation.build import make_evaluator
from mpi_es.evaluation.function_rollout import Function, Problem, idle_fields, problem
from mpi_es.parallel.collective_errors import all_or_raise, on_root, plan_on_root
from mpi_es.parallel.collectives import Comm, bcast_object
from mpi_es.parallel.rank_loss import apply_rank_loss_option
from mpi_es.parallel.script_api import RunStopped, World, on_all_ranks
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run import Run
from mpi_es.run_file.checkpoint import NOWHERE
from mpi_es.run_file.records import FITNESS
from mpi_es.run_file.training_plan import plan_run
from mpi_es.train import Plan, beginning, train

RUNS = "MPI_ES_RUNS"  # the variable by which slurm/function.sh names the directory of a job's runs
LIST = ".runs"  # the file there with all directories of the job's runs, a line each
_OF_ARGUMENTS = ("function", "x0", "dim", "bounds")  # fields of a config that evolve's arguments replace
_ARGUMENTS = {  # whose names are not those of their options
    "init-sigma": "sigma",
    "target-fitness": "goal",
    "target-consecutive": "goal_times",
}
_OTHER_NAMES = {  # of other libraries
    "minimize": "minimise=True",
    "maximize": "minimise=False",
    "target": "goal",
    "ftarget": "goal",
    "sigma0": "sigma",
    "popsize": "population_size",
    "maxiter": "max_iter",
    "maxfevals": "max_evaluations",
}
_WORLD = World()
_CALLS: dict[str, int] = {}  # of a directory that is named after the function


@dataclass(frozen=True)
class Result:
    """What a run came to, the same on every rank; values are the function's own, minimised or not."""

    x: Vector  # (dim,) the best; of a random function the centre with the best held-out evaluation
    value: float
    centre: Vector  # (dim,) of the search, after the last generation
    value_of_centre: float  # NaN where the call failed
    history: dict[str, NDArray[Any]]  # columns (generations,), with the names in run.h5
    evaluations: int
    reason: str  # why the run ended
    run_dir: Path | None  # None where no files are written

    def __repr__(self) -> str:
        shown = np.array2string(self.x, threshold=8, edgeitems=3, precision=6)
        return f"Result(value={self.value:.6g}, x={shown}, evaluations={self.evaluations}, {self.reason!r})"

    def to_pandas(self) -> Any:
        """Return the history as a pandas DataFrame, a row for each generation."""
        import pandas as pd

        return pd.DataFrame(self.history).set_index("generation")


@dataclass(frozen=True)
class Generation:
    """What a callback gets after each generation; values are the function's own, minimised or not."""

    number: int  # the first is 1
    x: Vector | None  # (dim,) the best so far; None before the first evaluation of a random function
    value: float  # of x
    centre: Vector  # (dim,) of the search
    values: Vector  # (population size,) of the generation; NaN where a call failed


def evolve(
    function: Function,
    x0: Any,
    sigma: Any = 0.1,
    *,
    minimise: bool = False,
    bounds: Any = None,
    goal: float | None = None,
    goal_times: int = 1,
    run_dir: str | Path | None = "",
    callback: Callable[[Generation], object] | None = None,
    **options: Any,
) -> Result:
    """Search for the best x of a function, on all ranks of an MPI job if there is one. Collective.

    Under `mpiexec -n N python script.py` every rank calls it with a function of its own; the other arguments
    are rank 0's, and all return the same. A signal saves the run and raises RunStopped, which ends the script
    with exit code 0.

    Args:
        function: of x (dim,), an array of float64; if it takes an argument `seed`, it is random, and must
            depend on x and seed only.
        x0: (dim,), where the search begins: an array, a list or a torch vector.
        sigma: the standard deviation of the first population, a number or a vector.
        minimise: the function, instead of maximising it.
        bounds: lower and upper, a number or a vector each, or a pair for each parameter; None is unbounded.
            x is reflected there.
        goal: end the run at this value: of the best x, or of a random function's held-out mean.
        goal_times: in a row, generations or held-out evaluations.
        run_dir: directory of the run, which is continued if it is there; empty: a new one in runs/; None: no
            files are written.
        callback: is called on rank 0 with each Generation; the run ends after one for which it returns True.
        options: those of `python -m mpi_es.train` that concern functions, such as population_size=64.
    """
    init_sigma, scale = overall(sigma)
    given = {
        "init_sigma": init_sigma,
        "minimise": minimise,
        "target_fitness": goal,
        "target_consecutive": goal_times,
        "run_dir": os.devnull if run_dir is None else str(run_dir),
    }
    directory: list[str] = []
    made: list[Problem] = []

    def call(world: World) -> Result:
        def prepare() -> Plan:
            config = config_of(function, given, options)
            made[:] = made or [problem(function, x0, bounds, scale=scale, minimise=minimise)]
            if not directory:
                directory.append(config.run_dir or _new_directory(config))
            config = replace(config, run_dir=directory[0])
            plan = plan_run("mpi_es.train", Config, config, resume_if_begun=True)
            _check_same(plan, made[0])
            _list_for_job(plan)
            return plan

        with in_words_of_scripts():
            plan, config = plan_on_root(world.comm, prepare)
            directory[:] = [config.run_dir]
            _CALLS.update(bcast_object(world.comm, _CALLS))  # any rank may be the next rank 0
            made[:] = [_with_beginning_of_root(world.comm, function, made)]
            return _run(world, plan, config, made[0], callback)

    try:
        return on_all_ranks(call, _WORLD)
    except (RolloutError, UserError) as error:
        raise error.with_traceback(None) from None  # which shows the caller's mistake, and no frames of ours


def minimise(function: Function, x0: Any, sigma: Any = 0.1, **options: Any) -> Result:
    """Search for the x with the lowest value of a function: evolve with minimise=True. Collective."""
    return evolve(function, x0, sigma, minimise=True, **options)


def rank() -> int:
    """Return this process's rank in its job, 0 without a launcher. The first call is collective."""
    return int(_WORLD.join().rank)


def _with_beginning_of_root(comm: Comm, function: Function, made: list[Problem]) -> Problem:
    """Return the problem of this rank's function with rank 0's x0 and bounds. Collective.

    A script may draw x0 at random, and so a different one on each rank.
    """
    root = made[0] if comm.rank == 0 else None
    beginning = bcast_object(comm, root and (root.x0, root.lower, root.upper, root.scale, root.minimise))
    return all_or_raise(comm, lambda: Problem(function, *beginning))


def _run(
    world: World,
    plan: Plan,
    config: Config,
    made: Problem,
    callback: Callable[[Generation], object] | None,
) -> Result:
    """Run or continue; return or raise on every rank what rank 0 does. Collective."""
    survives, rank_loss = apply_rank_loss_option(world.comm, config.on_rank_loss)
    outcome: list[Any] = []

    def on_rank_0() -> None:
        outcome[:] = train(plan, evaluator, rank_loss, watch if callback else None)

    def watch(run: Run) -> object:
        try:
            return callback and callback(_generation(run))
        except Exception as error:  # the run is saved, and the other ranks do not wait for ever
            text = f"callback failed: {one_line(error)}\n{traceback.format_exc()}"
            raise RolloutError(text) from error

    with StopFlag().installed() as flag:
        evaluator = make_evaluator(world.comm, config, flag, survives=survives, problem=made)
        try:
            evaluator.loop.run_on_root(on_rank_0)
        except (RolloutError, UserError) as error:
            outcome[:] = [error]
        evaluator.close()  # a script may call evolve a thousand times
        world.comm = evaluator.loop.comm

    def result() -> Result:
        if isinstance(outcome[0], Exception):
            raise outcome[0]
        run, reason = outcome
        if evaluator.stop_flag:
            if run.directory != NOWHERE:
                print(f"continue with run_dir={str(run.directory)!r}", flush=True)
            raise RunStopped(0)
        return _result(run, reason)

    return on_root(world.comm, result)  # type: ignore[no-any-return]


def _result(run: Run, reason: str) -> Result:
    """Return what a run came to."""
    best, factor = run.best, run.config.sign
    evaluations, last = run.history.evaluations, run.progress.generation
    of_centre = [held_out.returns.mean() for held_out in evaluations if held_out.generation == last]
    history = dict(run.history.rows.content())
    for name in FITNESS:
        history[name] = factor * history[name] + 0.0  # no -0.0
    held_out = sum(len(evaluation.returns) for evaluation in run.history.evaluations)
    return Result(
        x=np.array(best.candidate, np.float64),
        value=factor * best.fitness + 0.0,
        centre=run.evaluator.rollout.policy.whole(run.strategy.centre),
        value_of_centre=factor * float(of_centre[0]) + 0.0 if of_centre else math.nan,
        history=history,
        evaluations=int(history["episodes"].sum()) + held_out,
        reason=reason,
        run_dir=None if run.directory == NOWHERE else run.directory,
    )


def _generation(run: Run) -> Generation:
    """Return what a callback gets of the run's last generation."""
    factor, known = run.config.sign, run.best.candidate.size > 0
    return Generation(
        number=run.progress.generation,
        x=np.array(run.best.candidate, np.float64) if known else None,
        value=factor * run.best.fitness + 0.0 if known else math.nan,
        centre=run.evaluator.rollout.policy.whole(run.strategy.centre),
        values=factor * run.fitness + 0.0,
    )


def overall(sigma: Any) -> tuple[Any, Any]:
    """Return the overall standard deviation of the first population, and the scale of each parameter."""
    if np.ndim(sigma) == 0 or not (np.asarray(sigma) > 0).all():
        return sigma, 1.0
    mean = float(np.exp(np.log(sigma).mean()))
    return mean, np.asarray(sigma, np.float64) / mean


@contextmanager
def in_words_of_scripts() -> Iterator[None]:
    """Where an error names an option of the command line, name the argument of evolve instead."""
    try:
        yield
    except UserError as error:

        def argument(option: re.Match[str]) -> str:
            return _ARGUMENTS.get(option[1], option[1].replace("-", "_"))

        raise UserError(re.sub(r"(?<![\w-])--([a-z][a-z0-9-]*)", argument, str(error))) from error


def config_of(
    function: Function,
    given: dict[str, Any],
    options: dict[str, Any],
    without: Container[str] = (),
    caller: str = "evolve",
) -> Config:
    """Return the config of the arguments, or refuse what has no effect or another type.

    Args:
        without: options that are not there.
    """
    name, strategy = _name(function), {key: options[key] for key in ("strategy",) if key in options}
    bare = built(Config, {"function": name} | strategy)
    possible = {one.name: one for one in every(Config)} | declared(bare)
    known = {name for name in possible if name not in without} - {*_OF_ARGUMENTS, *given}
    for option in options:
        if option not in known:
            if option in _OTHER_NAMES:
                raise UserError(f"{caller}: expected {_OTHER_NAMES[option]}, got {option!r}")
            raise unknown(caller, option, known & declared(bare).keys() - without_effect(bare).keys())
    values = {
        option: possible[option].converted(_plain(value), flag(option))
        for option, value in (given | options).items()
    }
    config = built(Config, {"function": name} | values)
    for option, reason in (without_effect(config) | idle_fields(function)).items():
        if option in options:
            raise UserError(f"{option}: expected to be left out, as it has no effect {reason}")
    strategies.check(config)
    return config


def _plain(value: Any) -> Any:
    """Return a value as files hold it: a number of numpy as one of Python, a tuple as a list."""
    plain = value.item() if isinstance(value, np.generic) else value
    return [*plain] if isinstance(plain, tuple) else plain


def _name(function: Any) -> str:
    """Return module:name of a function; of one in the script itself, script.py:name."""
    function = getattr(function, "func", function)  # of a partial
    module = getattr(function, "__module__", None) or "function"
    if module == "__main__":
        script = getattr(sys.modules["__main__"], "__file__", None)
        module = Path(script or "interactive").stem + ".py"
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{module}:{re.sub(r'[^0-9A-Za-z_]+', '_', name).strip('_')}"


def _new_directory(config: Config) -> str:
    """Return a directory for a run that the script does not name.

    In a job of slurm/function.sh it is the same when the job is requeued; elsewhere it is a new one.
    """
    if RUNS in os.environ:
        stem = os.path.join(os.environ[RUNS], os.path.basename(config.directory))
        _CALLS[stem] = _CALLS.get(stem, 0) + 1
        return _numbered(stem, _CALLS[stem])
    number = 1
    while not _is_made(directory := _numbered(config.directory, number)):
        number += 1
    return directory


def _is_made(directory: str) -> bool:
    """Make a directory; return whether it was not there, perhaps of a script that began at the same time."""
    try:
        os.makedirs(directory)
    except FileExistsError:
        return False
    except OSError as error:
        raise UserError(f"--run-dir: cannot create {directory} ({error.strerror})") from error
    return True


def _numbered(stem: str, number: int) -> str:
    return stem if number == 1 else f"{stem}-{number}"


def _check_same(plan: Plan, made: Problem) -> None:
    """Refuse to continue a run with another x0 or other bounds."""
    stored = (plan.stored or {}).get("problem", {})
    now = beginning(made)
    for name in stored:
        if not np.array_equal(stored[name], now[name]):
            differs = {"x0": "x0 differs", "scale": "sigma differs"}.get(name, "bounds differ")
            saved = f"the saved run in {plan.directory}"
            raise UserError(f"{differs} from {saved}; choose another run_dir to start a new run")


def _list_for_job(plan: Plan) -> None:
    """Tell a job of slurm/function.sh which run this is; it does not mind to be told twice."""
    if RUNS in os.environ and plan.directory != NOWHERE:
        with open(os.path.join(os.environ[RUNS], LIST), "a", encoding="utf-8") as runs:
            print(plan.directory, file=runs)
