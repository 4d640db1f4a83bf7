"""python -m pbt.replay RUN: train one agent along the winner's recorded schedule of hyperparameters.

With the run's own seed the agent is bit-identical to the winner, unless members copy only a part of a state,
as `toy` does. With another seed it shows the value of the schedule without the population.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.config import command_line
from mpi_es.config.fields import Count, Range, check_ranges
from mpi_es.errors import UserError
from mpi_es.parallel.collective_errors import on_root
from mpi_es.parallel.collectives import Comm, SerialComm
from mpi_es.parallel.entry_point import launch
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file.scores import summary
from mpi_es.seeds import held_out_seeds
from pbt import lineage
from pbt.config import Config
from pbt.lineage import ancestors
from pbt.members import find, space
from pbt.members.base import Diverged, Member, close
from pbt.population.population import score_seeds
from pbt.record import load
from pbt.selection import best


@dataclass(frozen=True)
class Options:
    """Train one agent along a run's recorded schedule of hyperparameters."""

    seed: Annotated[int | None, Range(0, 2**63 - 1)] = None
    """Seed of the agent; None: the run's own, which reproduces the winner"""
    episodes: Count = 100
    """Number of episodes of the held-out evaluation at the end"""
    imports: bool = True
    """Import code that the file of the run names; --no-imports: refuse such a file"""

    def __post_init__(self) -> None:
        """Refuse numbers outside their ranges."""
        check_ranges(self)


@dataclass(frozen=True)
class Schedule:
    """The hyperparameters of the winner and of its ancestors, generation by generation."""

    config: Config
    names: list[str]
    values: NDArray[np.float64]  # (generations, space)
    chain: NDArray[np.int64]  # (generations,) the ancestor's index


def schedule(stored: dict[str, Any], config: Config) -> Schedule:
    """Return the schedule of the member that scored best in the last generation."""
    names = [one.name for one in space(config)]
    past = lineage.read(stored, names)
    if not past.generations:
        raise UserError("RUN: no generation is done yet")
    chain = ancestors(past.stacked("source"), best(past.generations[-1].score))
    values = past.stacked("hyperparameters")[np.arange(len(chain)), chain]
    return Schedule(config, names, values, chain)


def agent_of(recorded: Schedule) -> Member:
    """Return the agent before its training."""
    config = recorded.config
    return find(config)(config, int(recorded.chain[0]), SerialComm(), StopFlag())


def replay(recorded: Schedule, agent: Member, report: Callable[[int, float], None]) -> None:
    """Train an agent along the whole schedule, and report its score in each generation.

    In each generation the agent draws the same random numbers as the winner's ancestor.
    """
    config = recorded.config
    for generation, (member, values) in enumerate(zip(recorded.chain, recorded.values, strict=True), 1):
        agent.index, agent.generation = int(member), generation
        agent.hyperparameters = dict(zip(recorded.names, values.tolist(), strict=True))
        try:
            agent.train(config.steps)
            score = agent.score(score_seeds(config, generation))
        except Diverged as error:
            raise UserError(f"RUN: the agent diverged in generation {generation} of its schedule") from error
        report(generation, float(score.returns.mean()))


def main(comm: Comm, arguments: list[str]) -> int:
    """Replay, print, and return the exit code. Collective: only rank 0 works."""
    on_root(comm, lambda: _replay_and_print(*_prepared(arguments)))
    return 0


def _prepared(arguments: list[str]) -> tuple[Options, Schedule]:
    """Return the options, and the schedule with the seed that they give."""
    run, options = command_line.parse_run(arguments, Options(), "python -m pbt.replay")
    config, stored = load(run, allow_imports=options.imports)
    if find(config).collective:
        raise UserError(f"RUN: {config.member} members cannot be replayed: their noise is not in their state")
    return options, schedule(stored, config if options.seed is None else replace(config, seed=options.seed))


def _replay_and_print(options: Options, recorded: Schedule) -> None:
    """Train, and print the scores, the schedule and the held-out score."""
    print("generation member score " + " ".join(recorded.names))

    def report(generation: int, score: float) -> None:
        values = " ".join(f"{value:.6g}" for value in recorded.values[generation - 1])
        print(f"{generation} {recorded.chain[generation - 1]} {score:.6g} {values}", flush=True)

    agent = agent_of(recorded)
    episode_seeds = held_out_seeds(recorded.config.seed, options.episodes)
    try:
        replay(recorded, agent, report)
        print("held-out:", summary(agent.evaluate(episode_seeds).returns))
    except Diverged as error:
        raise UserError("RUN: the agent diverged at the end of its schedule") from error
    finally:
        close(agent)


if __name__ == "__main__":
    launch(main)
