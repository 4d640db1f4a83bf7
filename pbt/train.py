"""python -m pbt.train [PRESET] [options]: train a population; under mpiexec, on all of its ranks."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.config import command_line
from mpi_es.errors import UserError, warn
from mpi_es.parallel.collectives import Comm, all_or_raise, bcast, decide_plan, on_root, share_rows
from mpi_es.parallel.program import launch
from mpi_es.parallel.rank_loss import apply_rank_loss_option
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file import checkpoint
from mpi_es.run_file.stamp import is_finished
from mpi_es.run_file.versions import libraries
from mpi_es.text import counted
from pbt import lineage, report
from pbt.config import Config
from pbt.lineage import Lineage
from pbt.loop import Run
from pbt.members import describe, space
from pbt.packing import pack
from pbt.population.exchange import distribute
from pbt.population.population import Population
from pbt.presets import PRESETS
from pbt.record import Log, name_of, stored_values
from pbt.telemetry.sinks import open_telemetry

_PROGRAM = "python -m pbt.train"
_RESUME = (
    "--resume RUN continues the run in that directory; it needs no other option. "
    "--continue begins the run, or continues it where its directory holds one."
)


@dataclass(frozen=True)
class Plan:
    """What rank 0 makes of the command line."""

    config: Config
    directory: Path
    fingerprint: bytes  # of the directory, before anything was read
    stored: dict[str, Any] | None = None  # the content of run.h5 that is continued
    warning: str = ""


def main(comm: Comm, arguments: list[str]) -> int:
    """Train, and return the exit code. Collective."""
    plan, config = decide_plan(comm, lambda: prepare(arguments))
    told = apply_rank_loss_option(comm, config.on_rank_loss)
    tuned = all_or_raise(comm, lambda: space(config))  # what one rank lacks is told by all
    population = Population(config, tuned, comm, StopFlag().install())
    train(comm, plan, population, told)
    return 0


def prepare(arguments: list[str]) -> Plan:
    """Return the plan; every mistake that can be seen before the work begins is raised here."""
    again, words = command_line.take_flag(arguments, "--continue")
    resume, rest = command_line.take_option(words, "--resume")
    if resume is None:
        config = command_line.parse(rest, Config(), PRESETS, _PROGRAM, _RESUME)
        refuse_idle(rest, config)
        directory = Path(config.directory)
        plan = Plan(config, directory, checkpoint.fingerprint(directory))
        if checkpoint.exists(plan.directory):
            if not again:
                raise UserError(
                    f"--run-dir: {plan.directory} holds a run already; continue it with "
                    f"--resume {plan.directory}, or choose another directory"
                )
            plan = resumed(plan.directory, lambda _: replace(config, run_dir=str(plan.directory)))
    else:
        plan = resumed(
            Path(resume), lambda begun: command_line.parse(rest, begun, {}, _PROGRAM + " --resume RUN")
        )
    space(plan.config)
    return plan


def refuse_idle(words: list[str], config: Config) -> None:
    """Refuse options that have no effect beside the others."""
    if config.selection != "truncation":
        command_line.refuse_idle(words, ("fraction",), f"--selection {config.selection}", Config)
    if not config.explore:
        command_line.refuse_idle(words, ("resample",), "--no-explore", Config)


def resumed(directory: Path, changed: Callable[[Config], Config]) -> Plan:
    """Return the plan of continuing a run.

    Args:
        changed: from the config with which it began to the one that is wanted.
    """
    fingerprint = checkpoint.fingerprint(directory)
    stored, warning = checkpoint.load_of("pbt.train", directory)
    begun = replace(checkpoint.from_plain(Config, stored["config"]), run_dir=str(directory))
    wanted = changed(begun)
    command_line.check_resumed(begun, wanted)
    return Plan(wanted, directory, fingerprint, stored, warning)


def train(comm: Comm, plan: Plan | None, population: Population, told: str) -> None:
    """Train the population, and let rank 0 keep and tell how it goes. Collective.

    Args:
        told: what becomes of the run when a rank is lost.
    """
    values, generation = begin(comm, plan, population)
    with ExitStack() as stack:
        logs: list[Log] = []
        # What rank 0 cannot open is told on all ranks, and given back however it ends.
        on_root(comm, lambda: logs.append(opened(plan, population, told, stack)) if plan else None)
        over = on_root(comm, lambda: is_finished(plan.stored, plan.warning) if plan else None)
        run = Run(population, values, generation, logs[0] if logs else None, over)
        run.evolve()
        on_root(comm, lambda: plot(logs[0]) if logs and logs[0].config.plot else None)


def plot(log: Log) -> None:
    """Draw a run that is over, and print where, or why it could not be drawn."""
    if not log.lineage.generations:
        return
    try:
        text = "drawn in " + ", ".join(path.name for path in report.draw(log.directory))
    except UserError as error:
        text = f"not drawn: {error}"
    log.telemetry.finish(text)


def begin(comm: Comm, plan: Plan | None, population: Population) -> tuple[NDArray[np.float64], int]:
    """Return the hyperparameters (n, space) and how many generations are done. Collective."""
    stored = plan.stored if plan else None
    done = on_root(comm, lambda: stored["progress"]["generation"] if stored else None)
    if done is None:
        rows = all_or_raise(comm, population.initial)
        return share_rows(comm, rows if population.leads else rows[:0], population.counts), 0
    values = np.empty((len(population.owners), len(population.space)))
    buffers = {}
    if stored is not None:
        values[...] = stored_values(stored, population.names)
        states = stored["members"]
        buffers = {index: pack(states[name_of(index)]) for index in range(len(states))}
    bcast(comm, values)
    mine = distribute(comm, buffers, population.owners)
    all_or_raise(comm, lambda: population.restore(mine))
    return values, int(done)


def opened(plan: Plan, population: Population, told: str, stack: ExitStack) -> Log:
    """Return rank 0's log, with the run's directory locked and all who are told ready."""
    config, directory, stored = plan.config, plan.directory, plan.stored
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--run-dir: cannot create {directory} ({error.strerror})") from error
    stack.enter_context(checkpoint.locked(directory, plan.fingerprint))
    telemetry = stack.enter_context(open_telemetry(config, directory))
    past = lineage.read(stored, population.names) if stored else Lineage(population.names)
    log = Log(config, directory, past, telemetry, libraries())
    if stored:
        log.best = stored["best"]
    if plan.warning:
        warn(plan.warning)
        checkpoint.set_aside(directory)
    telemetry.start(config, population.names, facts_of(population, told), len(past.generations))
    return log


def facts_of(population: Population, told: str) -> list[str]:
    """Return what there is to know before the first generation, and what was told of lost ranks."""
    config, ranks = population.config, counted(population.comm.size, "rank")
    members = counted(config.num_agents, "member")
    idle = f"{population.idle} of them without a member" if population.idle else ""
    exploring = f"tunes {', '.join(population.names)}" if population.names else "tunes nothing"
    rule = "no selection" if config.baseline else f"selection {config.selection}"
    return [
        f"{members}, {describe(config)}; {rule}, {exploring}",
        ", ".join(filter(None, [ranks, idle, told, f"run directory {config.directory}"])),
    ]


if __name__ == "__main__":
    launch(main, command_line.continued)
