"""python -m pbt.replay RUN: train one agent along the winner's recorded schedule of hyperparameters.

With the run's own seed it is the winner again, to the bit; with another, it says what the schedule is worth
without the population.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.config import command_line
from mpi_es.config.fields import Count, Range, check_ranges
from mpi_es.errors import UserError, warn
from mpi_es.parallel.collectives import Comm, SerialComm, on_root
from mpi_es.parallel.program import launch
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file import checkpoint
from mpi_es.run_file.scores import summary
from mpi_es.seeds import held_out_seeds
from pbt import lineage
from pbt.config import Config
from pbt.lineage import ancestors
from pbt.members import find, space
from pbt.members.base import Diverged, Member
from pbt.population.population import score_seeds
from pbt.selection import best


@dataclass(frozen=True)
class Options:
    """Train one agent along a run's recorded schedule of hyperparameters."""

    seed: Annotated[int | None, Range(0, 2**63 - 1)] = None
    """Seed of the agent; None is the run's own, with which it becomes the run's winner again"""
    episodes: Count = 100
    """Episodes of the held-out evaluation at the end"""

    def __post_init__(self) -> None:
        """Refuse numbers that there are not."""
        check_ranges(self)


@dataclass(frozen=True)
class Schedule:
    """What the winner was trained with: (generations, space), and in which members it lived."""

    config: Config
    names: list[str]
    values: NDArray[np.float64]
    chain: NDArray[np.int64]  # (generations,)


def schedule(stored: dict[str, Any], config: Config) -> Schedule:
    """Return the schedule of the member that scored best in the last generation."""
    names = [one.name for one in space(config)]
    past = lineage.read(stored, names)
    if not past.generations:
        raise UserError("RUN: expected a run of one generation or more, got one of none")
    chain = ancestors(past.stacked("source"), best(past.generations[-1].score))
    values = past.stacked("hyperparameters")[np.arange(len(chain)), chain]
    return Schedule(config, names, values, chain)


def replay(plan: Schedule, tell: Callable[[int, float], None]) -> Member:
    """Return the agent at the schedule's end, and tell its score in each generation.

    In each generation it draws what the member drew in which the winner then lived.
    """
    kind = find(plan.config)
    agent = kind(plan.config, int(plan.chain[0]), SerialComm(), StopFlag())
    for generation, (member, values) in enumerate(zip(plan.chain, plan.values, strict=True), 1):
        agent.index, agent.generation = int(member), generation
        agent.hyperparameters = dict(zip(plan.names, values.tolist(), strict=True))
        try:
            agent.train(plan.config.steps)
            score = agent.score(score_seeds(plan.config, generation))
        except Diverged as error:
            raise UserError(f"RUN: the agent diverged in generation {generation} of its schedule") from error
        tell(generation, float(score.returns.mean()))
    return agent


def main(comm: Comm, arguments: list[str]) -> int:
    """Replay, print, and return the exit code. Collective: only rank 0 works."""
    on_root(comm, lambda: _report(*_prepared(arguments)))
    return 0


def _prepared(arguments: list[str]) -> tuple[Options, Schedule]:
    """Return the options, and the schedule with their seed."""
    run, options = command_line.parse_run(arguments, Options(), "python -m pbt.replay")
    stored, warning = checkpoint.load_of("pbt.train", Path(run))
    if warning:
        warn(warning)
    config = checkpoint.from_plain(Config, stored["config"])
    if find(config).collective:
        raise UserError(f"RUN: expected members that one rank trains, got {config.member}")
    return options, schedule(stored, config if options.seed is None else replace(config, seed=options.seed))


def _report(options: Options, plan: Schedule) -> None:
    """Train, and print the scores, the schedule and the held-out score."""
    print("generation member score " + " ".join(plan.names))

    def tell(generation: int, score: float) -> None:
        values = " ".join(f"{value:.6g}" for value in plan.values[generation - 1])
        print(f"{generation} {plan.chain[generation - 1]} {score:.6g} {values}", flush=True)

    agent = replay(plan, tell)
    print("held-out:", summary(agent.evaluate(held_out_seeds(plan.config.seed, options.episodes)).returns))


if __name__ == "__main__":
    launch(main)
