"""python -m pbt.train [PRESET] [options]: train a population; under mpiexec, on all ranks."""

from contextlib import ExitStack
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mpi_es.config import command_line
from mpi_es.config.config_file import ConfigFile
from mpi_es.config.fields import option
from mpi_es.config.parts import without_effect
from mpi_es.parallel.collective_errors import all_or_raise, on_root, plan_on_root
from mpi_es.parallel.collectives import Comm, bcast, share_rows
from mpi_es.parallel.entry_point import launch
from mpi_es.parallel.rank_loss import apply_rank_loss_option
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file import imports
from mpi_es.run_file.training_plan import TrainingPlan, plan_training
from mpi_es.run_file.versions import libraries
from mpi_es.telemetry.callback import Callback
from mpi_es.telemetry.sinks import events_missing, open_telemetry
from mpi_es.text import counted
from pbt import lineage, schema
from pbt.config import Config
from pbt.explore import check_choices
from pbt.lineage import Lineage
from pbt.members import find, space, unused
from pbt.packing import pack
from pbt.population.exchange import Buffers, distribute
from pbt.population.population import MemberFailed, Population
from pbt.presets import PRESETS
from pbt.record import Record, stored_values
from pbt.run import Run
from pbt.telemetry.view import of_past, view_of

_HELP = (
    "--resume RUN continues the run in that directory; it needs no other option. "
    "--continue starts the run, or continues it if its directory holds one. "
    "--config FILE takes options from a TOML file, such as the config.toml of a run. "
    "--no-imports refuses a file of a run that names code to import."
)

_EXAMPLES = (
    ("mpiexec -n 2 python -m pbt.train toy", "the toy problem of the paper, in seconds"),
    ("mpiexec -n 4 python -m pbt.train --member sb3 --env CartPole-v1", "PPO of Stable-Baselines3"),
    ("mpiexec -n 8 python -m pbt.train --resume runs/pbt-toy-1143", "continue a run, on any number of ranks"),
)


def main(comm: Comm, arguments: list[str]) -> int:
    """Train, and return the exit code. Collective."""
    plan, config = plan_on_root(comm, lambda: prepare(arguments))
    arguments[:] = command_line.continuing(arguments, config.directory)  # once ranks are lost
    _, rank_loss = apply_rank_loss_option(comm, config.on_rank_loss)
    tuned = all_or_raise(comm, lambda: space(config))  # a package may be missing on one rank only
    population = Population(config, tuned, comm, StopFlag().install())
    try:
        train(comm, plan, population, rank_loss)
    finally:
        population.close()
    return 0


def prepare(arguments: list[str]) -> TrainingPlan[Config]:
    """Return the plan; raise UserError for any mistake that can be found before the work begins."""
    refuse, rest = command_line.take_flag(arguments, imports.FLAG)
    file, words = command_line.take_file(rest, Config, PRESETS)
    with command_line.naming_file(file, words, Config):
        plan = plan_training(
            "pbt.train",
            Config,
            words,
            partial(_new_config, file),
            file,
            schema.check,
            allow_imports=not refuse,
        )
        tuned = space(plan.config)
        if plan.stored:
            schema.check_names(plan.stored, [one.name for one in tuned])
    command_line.warn_unused([*map(option, file.values)], plan.config, {})
    if plan.config.callback:
        Callback(plan.config, plan.directory)  # its mistakes are found before anything is compiled
    return plan


def _new_config(file: ConfigFile, words: list[str]) -> Config:
    """Return the config of a new run; refuse options that have no effect with the others."""
    config = command_line.parse(words, Config(), PRESETS, "python -m pbt.train", _HELP, _EXAMPLES, file)
    for name in find(config).unused:
        if command_line.is_given(words, name, Config):  # even with its default value
            raise unused(config, name)
    for name, reason in without_effect(config).items():
        command_line.refuse_unused(words, [name], reason.removeprefix("with "), Config)
    return config


def train(comm: Comm, plan: TrainingPlan[Config] | None, population: Population, rank_loss: str) -> None:
    """Train the population; rank 0, which has the plan, records it. Collective.

    Args:
        rank_loss: what happens when a rank is lost, in words.
    """
    values, generation = begin(comm, plan, population)
    with ExitStack() as stack:
        records: list[Record] = []
        # If rank 0 cannot open its files, all ranks raise, and the files that it opened are closed.
        on_root(comm, lambda: records.append(opened(plan, population, rank_loss, stack)) if plan else None)
        finished, ended = on_root(comm, lambda: _end_of(plan) if plan else None)
        record = records[0] if records else None
        Run(population, values, generation, record, finished, ended).evolve()


def _end_of(plan: TrainingPlan[Config]) -> tuple[bool, str]:
    """Return whether the run's file says that it is finished, and why, unless options of its end changed."""
    if not plan.is_finished or not plan.stored:
        return False, ""
    return True, "" if plan.has_new_end else plan.stored["life"]["reason"]


def begin(
    comm: Comm, plan: TrainingPlan[Config] | None, population: Population
) -> tuple[NDArray[np.float64], int]:
    """Return the hyperparameters (n, space) and the number of generations done. Collective."""
    stored = plan.stored if plan else None
    done = on_root(comm, lambda: stored["progress"]["generation"] if stored else None)
    if done is None:
        rows = all_or_raise(comm, population.initial, (MemberFailed,))
        values = share_rows(comm, rows if population.leads else rows[:0], population.counts)
        check_choices(population.space, values)
        return values, 0
    values = np.empty((len(population.owners), len(population.space)))
    buffers: Buffers = {}

    def read() -> None:
        if stored is not None:
            values[...] = stored_values(stored, population.names)
            states = stored["members"]
            buffers.update({index: pack(states[schema.name_of(index)]) for index in range(len(states))})

    on_root(comm, read)
    bcast(comm, values)
    check_choices(population.space, values)
    mine = distribute(comm, buffers, population.owners)
    all_or_raise(comm, lambda: population.restore(mine, int(done)), (MemberFailed,))
    return values, int(done)


def opened(plan: TrainingPlan[Config], population: Population, rank_loss: str, stack: ExitStack) -> Record:
    """Return rank 0's record; its directory stays locked and its telemetry open until the stack closes."""
    config, directory, stored = plan.config, plan.directory, plan.stored
    lock = stack.enter_context(plan.locked_directory())
    past = lineage.read(stored, population.names) if stored else Lineage(population.names)
    view = view_of(config, population.names)
    telemetry = stack.enter_context(open_telemetry(config, directory, view, of_past(past)))
    record = Record(config, directory, past, telemetry, libraries())
    record.saver.lock = lock
    if stored:
        record.best = stored["best"]
    facts = [*facts_of(population, rank_loss), events_missing(config, directory)]
    telemetry.start([*filter(None, facts)], len(past.generations))
    return record


def facts_of(population: Population, rank_loss: str) -> list[str]:
    """Return lines about the run to print before its first generation."""
    config, ranks = population.config, counted(population.comm.size, "rank")
    members = counted(config.num_agents, "member")
    idle = f"{population.idle} of them without a member" if population.idle else ""
    exploring = f"tunes {', '.join(population.names)}" if population.names else "tunes nothing"
    rule = "no selection" if config.selection == "none" else f"selection {config.selection}"
    return [
        f"{members}, {config.trained}; {rule}, {exploring}",
        ", ".join(filter(None, [ranks, idle, rank_loss, f"run directory {config.directory}"])),
    ]


if __name__ == "__main__":
    launch(main)
