"""A run on all ranks of a script, from its config to its result."""

import os
import sys
import traceback
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.config.run import Config
from mpi_es.errors import RolloutError, UserError, expected, one_line
from mpi_es.evaluation.build import make_evaluator
from mpi_es.evaluation.script_objects import ScriptObjects
from mpi_es.extras import needed_for
from mpi_es.parallel.collective_errors import on_root, plan_on_root
from mpi_es.parallel.collectives import bcast_object
from mpi_es.parallel.rank_loss import apply_rank_loss_option
from mpi_es.parallel.script_api import Ranks, RunStopped
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run import Run
from mpi_es.run_file.checkpoint import NOWHERE
from mpi_es.run_file.training_plan import plan_run
from mpi_es.scripts.arguments import refuse_without_effect
from mpi_es.scripts.directories import CALLS, RUNS, list_for_job, new_directory
from mpi_es.scripts.generation import Generation, generation_of
from mpi_es.train import Plan, train

T = TypeVar("T")
Callback = Callable[[Generation], object]
JOB = Ranks()


def rank() -> int:
    """Return this process's rank in its job, 0 without a launcher. The first call is collective."""
    return int(JOB.join().rank)


def ranks_of(comm: Any, directory: list[str]) -> Ranks:
    """Return the ranks that make a call: those of its communicator, or of the job without one.

    Args:
        directory: of the run, in a list that is empty where the script names none.
    """
    if comm is None:
        return JOB
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(comm, mpi.Intracomm):
        raise expected("comm", "an intracommunicator of mpi4py", comm)
    if not comm:
        raise UserError("comm: expected a communicator that has this rank, got MPI.COMM_NULL")
    if RUNS in os.environ and not directory:
        raise UserError("run_dir: expected a directory, since a job numbers only runs of all its ranks")
    return Ranks(comm)


def named_directory(run_dir: Any) -> list[str]:
    """Return the directory of an argument run_dir in a list, empty where none is named; None is no files."""
    if isinstance(run_dir, bool):
        raise expected("run_dir", "a path, or None for no files", run_dir)
    return [*filter(None, [os.devnull if run_dir is None else str(run_dir)])]


def plan_of(config: Config, directory: list[str]) -> Plan:
    """Return the plan of a new run, or of continuing the run that its directory holds.

    Args:
        directory: of the run, in a list that is empty before it is chosen.
    """
    if not directory:
        directory.append(new_directory(config))
    config = replace(config, run_dir=directory[0])
    plan = plan_run("mpi_es.train", Config, config, resume_if_begun=True)
    list_for_job(plan)
    return plan


def plan_on_ranks(
    ranks: Ranks, prepare: Callable[[], Plan], directory: list[str]
) -> tuple[Plan | None, Config]:
    """Return rank 0's plan (None elsewhere) and its config, and note its directory. Collective."""
    plan, config = plan_on_root(ranks.comm, prepare)
    directory[:] = [config.run_dir]  # any rank may be the next rank 0
    CALLS.update(bcast_object(ranks.comm, CALLS))
    return plan, config


def run(
    ranks: Ranks,
    plan: Plan | None,
    config: Config,
    objects: ScriptObjects,
    callback: Callback | None,
    outcome: Callable[[Run, str], T],
    *,
    base: Candidate | None = None,
    options: Collection[str] = (),
) -> T:
    """Run or continue; return on every rank the `outcome` that rank 0 makes, or raise. Collective.

    Args:
        outcome: makes the result from the run and the reason why it ended.
        base: a whole agent of which a part evolves.
        options: those that the script gave.
    """
    survives, rank_loss = apply_rank_loss_option(ranks.comm, config.on_rank_loss)
    ended: list[Any] = []

    def on_rank_0() -> None:
        assert plan is not None
        if callback is not None and not callable(callback):
            raise expected("callback", "a function, or None", callback)
        refuse_without_effect(options, evaluator.rollout.unused)
        ended[:] = train(plan, evaluator, rank_loss, watch if callback is not None else None)

    def watch(run: Run) -> object:
        try:
            return callback is not None and callback(generation_of(run))
        except (Exception, SystemExit) as error:  # the run is saved, and the others do not wait for ever
            text = f"callback failed: {one_line(error)}\n{traceback.format_exc()}"
            raise RolloutError(text) from error

    with StopFlag().installed() as flag:
        evaluator = make_evaluator(ranks.comm, config, flag, base, survives=survives, objects=objects)
        try:
            evaluator.loop.run_on_root(on_rank_0)
        except (RolloutError, UserError) as error:
            ended[:] = [error]
        evaluator.close_environments()
        evaluator.leave()  # a script may call this a thousand times
        ranks.comm = evaluator.loop.comm

    def result() -> T:
        if isinstance(ended[0], Exception):
            raise ended[0]
        run, reason = ended
        if evaluator.stop_flag:
            if run.directory != NOWHERE:
                print(f"continue with run_dir={str(run.directory)!r}", flush=True)
            raise RunStopped(0)
        return outcome(run, reason)

    return on_root(ranks.comm, result)  # type: ignore[no-any-return]


def where(run: Run) -> Path | None:
    """Return the directory of a run; None if it writes no files."""
    return None if run.directory == NOWHERE else run.directory


def table(history: dict[str, NDArray[Any]]) -> Any:
    """Return a history as a pandas DataFrame, a row for each generation."""
    with needed_for("to_pandas"):
        import pandas as pd

    return pd.DataFrame(history).set_index("generation")
