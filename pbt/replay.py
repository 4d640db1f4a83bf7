"""python -m pbt.replay RUN: train one agent along the winner's recorded schedule of hyperparameters.

With the run's own seed it is the winner again, to the bit; with another, it says what the schedule is worth
without the population.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es import checkpoint, cli
from mpi_es.comm import Comm, SerialComm, decide
from mpi_es.errors import UserError
from mpi_es.evaluate import summary
from mpi_es.program import launch
from mpi_es.seeds import held_out_seeds
from mpi_es.signals import StopFlag
from pbt import lineage
from pbt.config import Config
from pbt.lineage import ancestors
from pbt.log import load
from pbt.members import find, space
from pbt.members.base import Member
from pbt.population import score_seeds
from pbt.selection import best


@dataclass(frozen=True)
class Options:
    """Train one agent along a run's recorded schedule of hyperparameters."""

    seed: int = -1
    """Seed of the agent; -1 is the run's own, with which it becomes the run's winner again"""
    episodes: int = 100
    """Episodes of the held-out evaluation at the end"""


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


def replay(plan: Schedule) -> tuple[Member, list[float]]:
    """Return the agent at the schedule's end, and its score in each generation.

    In each generation it draws what the member drew in which the winner then lived.
    """
    kind = find(plan.config)
    agent = kind(plan.config, int(plan.chain[0]), SerialComm(), StopFlag())
    scores = []
    for generation, (member, values) in enumerate(zip(plan.chain, plan.values, strict=True), 1):
        agent.index, agent.generation = int(member), generation
        agent.hyperparameters = dict(zip(plan.names, values.tolist(), strict=True))
        agent.train(plan.config.steps)
        scores.append(float(agent.score(score_seeds(plan.config, generation)).returns.mean()))
    return agent, scores


def main(comm: Comm, arguments: list[str]) -> int:
    """Replay, print, and return the exit code. Collective: only rank 0 works."""
    decide(comm, lambda: _report(*_prepared(arguments)))
    return 0


def _prepared(arguments: list[str]) -> tuple[Options, Schedule]:
    """Return the options, and the schedule with their seed."""
    words = list(arguments)
    run = words.pop(0) if words and not words[0].startswith("-") else ""
    options = cli.parse(words, Options(), {}, "python -m pbt.replay RUN")
    if not run:
        raise UserError("RUN: expected the directory of a run as the first argument, got nothing")
    stored, _ = load(Path(run))
    config = checkpoint.from_plain(Config, stored["config"])
    if find(config).collective:
        raise UserError(f"RUN: expected members that one rank trains, got {config.member}")
    return options, schedule(stored, replace(config, seed=config.seed if options.seed < 0 else options.seed))


def _report(options: Options, plan: Schedule) -> None:
    """Train, and print the scores, the schedule and the held-out score."""
    agent, scores = replay(plan)
    print("generation member score " + " ".join(plan.names))
    for generation, (member, score) in enumerate(zip(plan.chain, scores, strict=True), 1):
        values = " ".join(f"{value:.6g}" for value in plan.values[generation - 1])
        print(f"{generation} {member} {score:.6g} {values}")
    print("held-out:", summary(agent.evaluate(held_out_seeds(plan.config.seed, options.episodes)).returns))


if __name__ == "__main__":
    launch(main)
