"""python -m mpi_es.train [PRESET] [options]: evolve a policy, or optimise a function."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mpi_es import strategies
from mpi_es.agents import starting_point
from mpi_es.agents.load import check_buffers, check_size
from mpi_es.arrays import Candidate, Vector
from mpi_es.config import command_line
from mpi_es.config.config_file import ConfigFile
from mpi_es.config.fields import option
from mpi_es.config.presets import MINUTES, PRESETS, preset
from mpi_es.config.run import Config
from mpi_es.errors import expected
from mpi_es.evaluation.build import make_evaluator, make_policy, make_problem
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.function.problem import Problem, takes
from mpi_es.evaluation.rollout import CAP
from mpi_es.evaluation.script_objects import NONE, ScriptObjects
from mpi_es.parallel.collective_errors import plan_on_root
from mpi_es.parallel.collectives import Comm, bcast_object
from mpi_es.parallel.entry_point import launch
from mpi_es.parallel.rank_loss import apply_rank_loss_option
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run import Run
from mpi_es.run_file import description, imports
from mpi_es.run_file.checkpoint import NOWHERE
from mpi_es.run_file.history import History
from mpi_es.run_file.observations import ObservationStatistics
from mpi_es.run_file.records import Progress, Solution
from mpi_es.run_file.training_plan import TrainingPlan, plan_training
from mpi_es.run_file.versions import libraries
from mpi_es.strategies.constraints import Constraints
from mpi_es.strategies.restore import restore
from mpi_es.telemetry.callback import Callback
from mpi_es.telemetry.numbers import of_past
from mpi_es.telemetry.sinks import events_missing, open_telemetry
from mpi_es.telemetry.view import view_of
from mpi_es.text import counted, thousands

_HELP = (
    "Without PRESET, --env or --function the preset is carracing. --resume RUN continues the run in that "
    "directory and needs no other option. "
    "--continue starts the run, or continues it if its directory holds one. "
    "--config FILE takes options from a TOML file, such as the config.toml of a run. "
    "--no-imports refuses a file of a run or an agent that names code to import. "
    "--verbose means --console lines. "
    "The options and defaults below are those of the PRESET, --env, --strategy and --policy beside --help."
)
_EXAMPLES = (
    ("mpiexec -n 2 python -m mpi_es.train carracing-fast", "an agent that drives, in a few minutes"),
    ("mpiexec -n 4 python -m mpi_es.train --env my_env:make --hidden 32 --obs-norm", "your environment"),
    (
        "mpiexec -n 8 python -m mpi_es.train --resume runs/carracing-fast-1143",
        "continue a run, on any number of ranks",
    ),
)
Plan = TrainingPlan[Config]


def main(comm: Comm, arguments: list[str]) -> int:
    """Train, and return the exit code. Collective."""
    plan, config = plan_on_root(comm, lambda: prepare(arguments))
    # If main is called again without lost ranks.
    arguments[:] = command_line.continuing(arguments, config.directory)
    survives, rank_loss = apply_rank_loss_option(comm, config.on_rank_loss)
    base = bcast_object(comm, plan.base if plan else None)
    evaluator = make_evaluator(comm, config, StopFlag().install(), base, survives=survives)
    if plan:  # on rank 0
        command_line.warn_unused(plan.given, config, evaluator.rollout.unused)
    try:
        evaluator.loop.run_on_root(lambda: train(plan, evaluator, rank_loss))
    finally:
        evaluator.close_environments()
    return 0


def prepare(arguments: list[str]) -> Plan:
    """Return the plan; raise UserError for any mistake that can be found before the work begins."""
    refuse, rest = command_line.take_flag(command_line.translated(arguments), imports.FLAG)
    file, words = command_line.take_file(rest, Config, PRESETS)
    with command_line.naming_file(file, words, Config):
        return replace(_plan(file, words, not refuse), given=[*words, *map(option, file.values)])


def _plan(file: ConfigFile, words: list[str], allow_imports: bool) -> Plan:
    """Return the plan.

    Args:
        allow_imports: whether to import code that the file of a run or an agent names.
    """
    new_config = partial(_new_config, file)
    plan = plan_training("mpi_es.train", Config, words, new_config, file, allow_imports=allow_imports)
    config, stored = plan.config, plan.stored
    strategies.check(config)
    if config.callback:
        Callback(config, plan.directory)  # its mistakes are found before anything is compiled
    if config.function:
        size = len(make_problem(config).x0)
        if stored:
            check_size(stored["last"]["candidate"], size, "/last/candidate")
        return plan
    return with_agents(plan, allow_imports=allow_imports)


def with_agents(plan: Plan, objects: ScriptObjects = NONE, *, allow_imports: bool = True) -> Plan:
    """Return the plan of evolving a policy, with the agents from which its search takes parameters.

    Args:
        objects: of a script, to which names in its config refer.
        allow_imports: whether to import code that the file of an agent names.
    """
    config, stored = plan.config, plan.stored
    policy = make_policy(config, objects=objects)
    if stored is None:
        base = starting_point.fixed_agent(config, policy, allow_imports)
        start = starting_point.first_agent(config, policy, allow_imports)
        return replace(plan, base=base, start=start)
    size = len(stored["last"]["candidate"])
    if objects.policy is not None and size != policy.dim:
        raise expected("--policy", f"the module that the run began with, of {size} parameters", policy.dim)
    check_size(stored["last"]["candidate"], policy.dim, "/last/candidate")
    check_buffers(stored.get("module", {}).get("buffers", ""), policy)
    # The last centre is a whole agent: what stays fixed is in it, and the file it came from is not needed.
    return plan if config.evolve == "all" else replace(plan, base=stored["last"]["candidate"])


def _new_config(file: ConfigFile, words: list[str]) -> Config:
    """Return the config of a new run."""
    problems = ("env", "function")
    other = any(name in file.values or command_line.is_given(words, name, Config) for name in problems)
    default = Config() if other else preset("carracing")
    program = "python -m mpi_es.train"
    return command_line.parse(words, default, PRESETS, program, _HELP, _EXAMPLES, file, minutes=MINUTES)


def train(
    plan: Plan, evaluator: Evaluator, rank_loss: str, watch: Callable[[Run], object] | None = None
) -> tuple[Run, str]:
    """Evolve on rank 0; return the run and why it ended.

    Args:
        rank_loss: what happens when a rank is lost, in words.
        watch: called after each generation; it ends the run by returning True.
    """
    run = make_run(plan, evaluator)
    run.watch = watch
    if plan.is_finished and not plan.has_new_end and plan.stored:
        run.stop_reason = plan.stored["life"]["reason"]  # such as a callback's
    with plan.locked_directory() as run.saver.lock, run.telemetry:
        run.check_function()
        if not (run.why_over() and plan.is_finished):
            run.keep()
            run.save()  # a directory that cannot be written to is refused before the work begins
        run.telemetry.start(describe(run, rank_loss), run.progress.generation)
        return run, run.evolve()


def make_run(plan: Plan, evaluator: Evaluator) -> Run:
    """Return the run, at its beginning or in the state that its file holds."""
    config, stored = plan.config, plan.stored
    policy = evaluator.rollout.policy
    x0 = initial_centre(plan, policy).astype(float)
    # A restart stays near the start that was given: the x0 of a function, or a trained agent.
    given = config.function or config.from_pretrained
    draw = None if given else policy.initial
    grid = policy.grid if isinstance(policy, Problem) else None
    strategy = strategies.make(config, x0, evaluator.noise, draw, grid)
    progress = Progress(
        episode_cap=evaluator.rollout.training_cap(config.episode_cap),
        observations=first_observations(plan, evaluator.rollout.size if config.normalises else 0),
    )
    if stored is not None:
        seen = len(stored["progress"]["observations"]["mean"])
        if seen != progress.observations.mean.size:
            rule = f"sums of the {progress.observations.mean.size} observed numbers"
            raise expected("/progress/observations", rule, seen)
        restore(strategy, stored["state"], stored["progress"]["generation"])
        progress = description.from_plain(Progress, stored["progress"])
    best = description.from_plain(Solution, stored["best"]) if stored else Solution()
    history = History(stored)
    past = of_past(config, history)
    telemetry = open_telemetry(config, plan.directory, view_of(config), past, evaluator.progress)
    return Run(
        config,
        plan.directory,
        strategy,
        evaluator,
        telemetry,
        history,
        progress,
        libraries(),
        Constraints(evaluator.dim, config.constraints, stored and stored.get("constraints")),
        beginning(policy),
        best,
    )


def beginning(policy: Any) -> dict[str, Any]:
    """Return the group of run.h5 by which a resumed run recognises its function, or its module's buffers."""
    if isinstance(policy, Problem):
        ends = {"x0": policy.x0, "lower": policy.lower, "upper": policy.upper, "scale": policy.scale}
        return {"problem": ends | {"exact": not takes(policy.function, "seed")}}
    return {"module": {"buffers": policy.buffers}} if policy.buffers else {}


def first_observations(plan: Plan, size: int) -> ObservationStatistics:
    """Return the statistics of observations before the first episode.

    Args:
        size: of an observation; 0: observations are not normalised.
    """
    if plan.start is None or not size:
        return ObservationStatistics.of_size(size)
    known = plan.start.normalisation
    if known.shape[1] != size:
        raise expected("--from-pretrained", f"an agent that observes {size} numbers", known.shape[1])
    return ObservationStatistics.known(known, plan.start.observed)


def initial_centre(plan: Plan, policy: Any) -> Candidate | Vector:
    """Return the parameters (policy.dim,) with which the strategy begins."""
    if plan.stored is not None:  # its state replaces them, and drawing them imports torch
        return np.zeros(policy.dim, np.float32)
    if plan.start is None:
        drawn: Candidate | Vector = policy.initial(plan.config.seed)
        return drawn
    begun: Candidate = plan.start.parameters
    return begun if plan.base is None else begun[policy.part]


def describe(run: Run, rank_loss: str) -> list[str]:
    """Return the facts of a run that are printed before its first generation."""
    config, evaluator = run.config, run.evaluator
    ranks = counted(evaluator.loop.comm.size, "rank")
    part = "" if config.evolve == "all" else f" (only its {config.evolve} evolves)"
    dispatch = where = ""
    ranks += evaluator.rollout.groups.describe(evaluator.loop.comm.size, evaluator.first_evaluating_rank)
    if evaluator.players > 1:
        dispatch = "dynamic dispatch" if evaluator.dynamic else "static dispatch"
        where = "rank 0 only directs" if evaluator.first_evaluating_rank else "rank 0 evaluates too"
    evolved = f"{config.policy.name} policy{part} of {evaluator.dim} parameters on {config.env}"
    if config.function:
        direction = "minimising" if config.minimise else "maximising"
        evolved = f"{direction} {config.function}, {counted(evaluator.dim, 'parameter')}"
        evolved += f", {counted(len(config.integers), 'integer')}" if config.integers else ""
        evolved += f", {counted(config.constraints, 'constraint')}" if config.constraints else ""
    facts = [
        evolved,
        getattr(evaluator.rollout.policy, "description", ""),
        getattr(run.strategy, "description", f"{config.strategy.name}, population {run.strategy.popsize}"),
        ", ".join(filter(None, [ranks, dispatch, where, rank_loss])),
        without_limit(config, evaluator.rollout),
        unreachable(run),
        events_missing(config, run.directory),
        "no files" if run.directory == NOWHERE else f"run directory {run.directory}",
    ]
    return [fact for fact in facts if fact]


def unreachable(run: Run) -> str:
    """Return a warning if the target is compared with nothing before the run's end; empty otherwise."""
    if run.exact or run.config.eval_every or run.config.target_fitness is None:
        return ""
    return "the target cannot end the run: with --eval-every 0 the centre is evaluated only at the end"


def without_limit(config: Config, rollout: Any) -> str:
    """Return after how many steps episodes without a step limit are cut; empty if they have a limit."""
    if rollout.limit or config.episode_cap:
        return ""
    cut = f"an episode is cut after {thousands(CAP)} steps"
    return f"{config.env} has no step limit: {cut}; --episode-cap sets another limit"


if __name__ == "__main__":
    launch(main)
