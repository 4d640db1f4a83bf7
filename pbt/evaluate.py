"""python -m pbt.evaluate RUN: the held-out score of a population's member; parallel under mpiexec."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.config import command_line
from mpi_es.errors import RolloutError, UserError, expected
from mpi_es.evaluate import EpisodeOptions, compared_with, partly_luck, write_csv
from mpi_es.evaluation.rollout import Episode
from mpi_es.jit.warm_up import prepare as prepare_code
from mpi_es.parallel.collective_errors import all_or_raise, on_root, plan_on_root
from mpi_es.parallel.collectives import Comm, SerialComm, bcast, offsets, share_rows
from mpi_es.parallel.entry_point import launch
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file.scores import summary
from pbt.config import Config
from pbt.members import find
from pbt.members.base import Diverged, Member, close
from pbt.packing import Buffer, pack, unpack
from pbt.record import load
from pbt.schema import name_of, set_state

_BLOCK = 16  # episodes that a rank plays at once, as many as sb3 members play together


@dataclass(frozen=True)
class Options(EpisodeOptions):
    """Evaluate a member of a population on episodes that its training did not use."""

    member: str = "best"
    """best: the member of the best held-out evaluation as it was then; or the number of one as it is now"""

    def __post_init__(self) -> None:
        """Refuse options that no evaluation can have."""
        super().__post_init__()
        if not re.fullmatch(r"best|\d+", self.member):
            raise expected("--member", "best or the number of a member", self.member)


@dataclass(frozen=True)
class EvaluationPlan:
    """The evaluation that the command line asks for, on rank 0."""

    options: Options
    config: Config
    title: str
    index: int  # of the member
    state: Buffer
    hyperparameters: dict[str, float]
    logged: dict[str, Any]  # the evaluations of the run
    generation: int  # of the member's state


def main(comm: Comm, arguments: list[str]) -> int:
    """Evaluate, print, and return the exit code. Collective."""
    plan, config = plan_on_root(comm, lambda: prepare(arguments))
    prepare_code(comm, lambda: find(config).compile(config))
    chosen = plan.options.chosen_seeds(config.seed) if plan else None
    facts = on_root(
        comm, lambda: (plan.index, plan.generation, plan.hyperparameters, len(plan.state), chosen)
    )
    index, generation, values, size, seeds = facts
    state = plan.state if plan else np.empty(size, np.uint8)
    bcast(comm, state)
    member = all_or_raise(comm, lambda: restored(config, index, generation, state, values))
    on_root(comm, lambda: film(plan, member, int(seeds[0])))  # first, since drawing may fail
    shares = offsets(len(seeds), comm.size, block=_BLOCK)
    mine = seeds[shares[comm.rank] : shares[comm.rank + 1]]
    rows = all_or_raise(comm, lambda: played(member, mine), (UserError, RolloutError))
    close(member)
    scores = share_rows(comm, rows, np.diff(shares).tolist())
    on_root(comm, lambda: report(plan, seeds, *scores.T))
    return 0


def prepare(arguments: list[str]) -> EvaluationPlan:
    """Return the plan of the evaluation; read the run's file."""
    run, options = command_line.parse_run(arguments, Options(), "python -m pbt.evaluate")
    if options.ranges:
        command_line.refuse_unused(arguments, ["episodes"], "a list of --seeds", Options)
    config, content = load(run, allow_imports=options.imports)
    find(config)
    if options.csv:
        write_csv(Path(options.csv), None)  # a file that cannot be written is reported before the work
    logged = content["evaluations"]
    if options.member == "best":
        kept = content["best"]
        if not kept["state"]:
            hint = "use --member N for a member in its current state"
            raise UserError(f"{run}: no held-out evaluation is done yet; {hint}")
        index, generation = int(kept["member"]), int(kept["generation"])
        values = {name: float(value) for name, value in kept["hyperparameters"].items()}
        title = f"member {index}, best of generation {generation}"
        return EvaluationPlan(options, config, title, index, pack(kept["state"]), values, logged, generation)
    index, generation = int(options.member), int(content["progress"]["generation"])
    if index >= config.num_agents:
        raise expected("--member", f"best or a number below {config.num_agents}", options.member)
    values = {name: float(column[index]) for name, column in content["hyperparameters"].items()}
    title = f"member {index} after generation {generation}"
    state = pack(content["members"][name_of(index)])
    return EvaluationPlan(options, config, title, index, state, values, {}, generation)


def restored(
    config: Config, index: int, generation: int, state: Buffer, hyperparameters: dict[str, float]
) -> Member:
    """Return the member with its state after a generation, on this rank alone."""
    member = find(config)(config, index, SerialComm(), StopFlag())
    member.generation = generation
    member.hyperparameters = hyperparameters
    set_state(member, unpack(state))
    return member


def film(plan: EvaluationPlan, member: Member, seed: int) -> None:
    """Show the first episode as the options ask for, and print what it came to."""
    if not plan.options.shows:
        return
    player = member.player()
    footage = plan.options.footage(player.config)
    footage.check()
    episode = Episode(0, 0, seed, player.parameters)
    print(footage.shoot(player.policy, episode, player.rules, plan.title), flush=True)


def played(member: Member, seeds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the returns and lengths (episodes, 2) of held-out episodes."""
    blocks = [np.zeros((0, 2))]
    for begin in range(0, len(seeds), _BLOCK):
        try:
            score = member.evaluate(seeds[begin : begin + _BLOCK])
        except Diverged as error:
            raise UserError("--member: expected a member that can continue, got one that diverged") from error
        blocks.append(np.stack([score.returns, score.lengths], axis=1))
    return np.concatenate(blocks)


def report(plan: EvaluationPlan, seeds: NDArray[np.int64], returns: Any, lengths: Any) -> None:
    """Print the score, and how it compares with the logged one; write the table."""
    options = plan.options
    print(f"{plan.title}: {summary(returns)}")
    line = compared_with(plan.logged, plan.generation, returns) if plan.logged else ""
    luck = partly_luck(plan.logged) if options.member == "best" else ""
    for text in filter(None, (line, luck)) if options.seeds == "held-out" else ():
        print(text)
    if options.csv:
        rows: Sequence[Any] = [seeds.tolist(), returns.tolist(), lengths.astype(int).tolist()]
        write_csv(Path(options.csv), zip(*rows, strict=True))


if __name__ == "__main__":
    launch(main)
