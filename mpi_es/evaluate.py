"""python -m mpi_es.evaluate RUN: the held-out score of a run's policy; parallel under mpiexec."""

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mpi_es import checkpoint, cli
from mpi_es.build import make_evaluator
from mpi_es.comm import Comm, decide_plan
from mpi_es.config import Config
from mpi_es.errors import UserError, expected
from mpi_es.evaluator import Evaluator
from mpi_es.job import Evaluation
from mpi_es.program import launch
from mpi_es.rollout import Episode
from mpi_es.seeds import Stream, held_out_seeds
from mpi_es.signals import StopFlag
from mpi_es.strategies.base import Dense


@dataclass(frozen=True)
class Options:
    """Evaluate the policy of a run on episodes that its training never drew."""

    episodes: int = 100
    """Episodes"""
    candidate: Literal["best", "last"] = "best"
    """The mean that was best in held-out evaluations, or the last one"""
    seeds: str = "held-out"
    """held-out: those of the run's own evaluations, and more; fresh: never used; or numbers as 0-99,200"""
    csv: str = ""
    """Write episode seed, return and length of every episode into this file"""
    video: str = ""
    """Write a film of the first episode into this file, .mp4 or .gif"""
    frames: str = ""
    """Write every frame of the first episode, and what was done and looked at, into this directory"""

    def __post_init__(self) -> None:
        """Refuse what cannot be evaluated."""
        if self.episodes < 1:
            raise expected("--episodes", "a whole number of 1 or more", self.episodes)
        if not re.fullmatch(r"held-out|fresh|\d+(-\d+)?(,\d+(-\d+)?)*", self.seeds):
            raise expected("--seeds", "held-out, fresh or numbers as 0-99,200", self.seeds)
        if any(first > last or last >= 2**31 for first, last in self.ranges):
            raise expected("--seeds", "ranges that go up, below 2147483648", self.seeds)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """First and last of each range of seeds; empty where they are named."""
        parts = [part.split("-") for part in self.seeds.split(",") if self.seeds[0].isdigit()]
        return [(int(ends[0]), int(ends[-1])) for ends in parts]


@dataclass(frozen=True)
class Plan:
    """What rank 0 makes of the command line and the run."""

    options: Options
    config: Config
    content: dict[str, Any]
    warning: str


def main(comm: Comm, arguments: list[str]) -> int:
    """Evaluate, print, and return the exit code. Collective."""
    plan, config = decide_plan(comm, lambda: prepare(arguments))
    evaluator = make_evaluator(comm, config, StopFlag())
    evaluator.lead(lambda: report(plan, evaluator))
    return 0


def prepare(arguments: list[str]) -> Plan:
    """Return the plan, with the run's file read."""
    words = list(arguments)
    run = words.pop(0) if words and not words[0].startswith("-") else ""
    options = cli.parse(words, Options(), {}, "python -m mpi_es.evaluate RUN")
    if not run:
        raise UserError("RUN: expected the directory of a run as the first argument, got nothing")
    content, warning = checkpoint.load(Path(run))
    if content[options.candidate]["candidate"].size == 0:
        raise UserError(f"{run}: expected a held-out evaluation, got none yet; use --candidate last")
    plan = Plan(options, checkpoint.from_plain(Config, content["config"]), content, warning)
    if options.video or options.frames:
        footage(plan).check()
    return plan


def report(plan: Plan, evaluator: Evaluator) -> None:
    """Evaluate on rank 0 and print what came out."""
    options, chosen = plan.options, plan.content[plan.options.candidate]
    if plan.warning:
        print(f"warning: {plan.warning}")
    name = f"{options.candidate} candidate, of generation {chosen['generation']}"
    seeds = episode_seeds(plan)
    scaling = chosen["scaling"] if chosen["scaling"].size else None
    terms = evaluator.rollout.held_out(plan.config.episode_cap, scaling)
    if options.video or options.frames:  # first, since drawing may fail
        first = Episode(0, 0, int(seeds[0]), chosen["candidate"])
        print(footage(plan).shoot(evaluator.rollout.policy, first, terms, name), flush=True)
    result = evaluator.evaluate(Dense(chosen["candidate"][None]), seeds[None], terms)
    returns = result.returns[0]
    print(f"{name}: {summary(returns)}")
    if options.seeds == "held-out" and (line := compared(plan, chosen["generation"], returns)):
        print(line)
    if options.csv:
        write_csv(Path(options.csv), seeds, result)


def footage(plan: Plan) -> Any:
    """Return what makes the film and the frames."""
    from mpi_es.footage import Footage  # Pillow and ffmpeg, which a mere score does without

    return Footage(plan.config, plan.options.video, plan.options.frames)


def episode_seeds(plan: Plan) -> NDArray[np.int64]:
    """Return the seeds (episodes,) that the options ask for."""
    options, seed = plan.options, plan.config.seed
    if options.seeds == "held-out":
        return held_out_seeds(seed, options.episodes)
    if options.seeds == "fresh":
        return held_out_seeds(seed, options.episodes, Stream.FRESH)
    return np.concatenate([np.arange(first, last + 1) for first, last in options.ranges])


def summary(returns: NDArray[np.float64]) -> str:
    """Return mean, deviation, extremes and the 95 % interval of the mean."""
    n = len(returns)
    deviation = float(returns.std(ddof=1)) if n > 1 else math.nan
    half = 1.96 * deviation / math.sqrt(n)
    mean = float(returns.mean())
    return (
        f"mean {mean:.2f} +/- {deviation:.2f} over {n} episodes, min {returns.min():.2f}, "
        f"max {returns.max():.2f}, 95 % interval of the mean [{mean - half:.2f}, {mean + half:.2f}]"
    )


def compared(plan: Plan, generation: int, returns: NDArray[np.float64]) -> str:
    """Return how the episodes compare with those that the run logged of the same candidate."""
    logged = plan.content["evaluations"]
    found = np.flatnonzero(logged["generation"] == generation)
    if not found.size:
        return ""
    row = logged["returns"][found[-1]]
    row = row[~np.isnan(row)][: len(returns)]
    same = np.array_equal(row, returns[: len(row)])
    verdict = "equal to the bit" if same else "DIFFERENT: other versions of the libraries?"
    return f"the first {len(row)} episodes are those logged at generation {generation}: {verdict}"


def write_csv(path: Path, seeds: NDArray[np.int64], result: Evaluation) -> None:
    """Write every episode into a file."""
    try:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["episode_seed", "return", "length"])
            rows = zip(seeds.tolist(), result.returns[0].tolist(), result.lengths[0].tolist(), strict=True)
            writer.writerows(rows)
    except OSError as error:
        raise UserError(f"--csv: cannot write {path} ({error.strerror})") from error


if __name__ == "__main__":
    launch(main)
