"""python -m mpi_es.evaluate RUN: the held-out score of a run's policy; parallel under mpiexec.

Without RUN, --from-pretrained FILE names the policy.
"""

import csv
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mpi_es.agents import load
from mpi_es.arrays import Candidate, Vector
from mpi_es.config import command_line
from mpi_es.config.presets import PRESETS, preset
from mpi_es.config.run import Config, Layout, default
from mpi_es.envs import CAR_RACING
from mpi_es.errors import UserError, expected, unknown, warn
from mpi_es.evaluation.build import make_evaluator, make_policy
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.rollout import Episode
from mpi_es.parallel.collective_errors import plan_on_root
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.entry_point import launch
from mpi_es.parallel.rank_loss import survivable
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file import checkpoint, description, imports
from mpi_es.run_file.scores import summary
from mpi_es.seeds import Stream, held_out_seeds
from mpi_es.strategies.base import Dense

MOST_EPISODES = 1_000_000  # of one evaluation, which rank 0 holds in memory
# Options that have no effect with another.
IDLE = {"RUN": ("preset", "layout"), "--from-pretrained": ("candidate",), "--seeds": ("episodes",)}


@dataclass(frozen=True)
class Options:
    """Evaluate the policy of a run on episodes that its training did not use."""

    episodes: int = 100
    """Number of episodes"""
    candidate: Literal["best", "last"] = "best"
    """The centre with the best held-out evaluation, or the last one"""
    seeds: str = "held-out"
    """held-out: seeds of the run's own evaluations; fresh: seeds it never used; or a list such as 0-99,200"""
    csv: str = ""
    """File for the episode seed, return and length of every episode"""
    video: str = ""
    """Video file of the first episode, .mp4 or .gif"""
    render: bool = False
    """Show the first episode in a window"""
    frames: str = ""
    """Directory for every frame of the first episode, with its actions and attention"""
    env: str = ""
    """Environment instead of the run's; fast: our CarRacing; gymnasium: gymnasium's own"""
    env_options: tuple[str, ...] = ()
    """Arguments of the environment instead of the run's: name=value"""
    compiled: bool = True
    """Run whole episodes in compiled code if policy and environment allow it, with the same results"""
    from_pretrained: str = ""
    """Run, run.h5 or npz file with the agent, instead of RUN"""
    preset: str = "carracing"
    """Preset with which an npz file without a config was trained"""
    layout: Layout = "auto"
    """Order of the parameters in an npz file that does not name it; auto tries both on CarRacing"""
    imports: bool = True
    """Import code that the file of the run names; --no-imports: refuse such a file"""

    def __post_init__(self) -> None:
        """Refuse options that no evaluation can have."""
        check_episodes(self.episodes, self.seeds)
        check_files(self.csv, self.video)
        if self.preset not in PRESETS:
            raise unknown("--preset", self.preset, PRESETS)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """First and last seed of each range; empty for held-out and fresh."""
        return seed_ranges(self.seeds)


def check_episodes(episodes: int, seeds: str) -> None:
    """Refuse a number of episodes, and words for their seeds, that no evaluation can have."""
    if not 1 <= episodes <= MOST_EPISODES:
        raise expected("--episodes", f"a whole number from 1 to {MOST_EPISODES}", episodes)
    if not re.fullmatch(r"held-out|fresh|\d+(-\d+)?(,\d+(-\d+)?)*", seeds):
        raise expected("--seeds", "held-out, fresh or numbers such as 0-99,200", seeds)
    ranges = seed_ranges(seeds)
    if any(first > last or last >= 2**31 for first, last in ranges):
        raise expected("--seeds", "ranges that go up, below 2147483648", seeds)
    if (count := sum(last - first + 1 for first, last in ranges)) > MOST_EPISODES:
        raise expected("--seeds", f"at most {MOST_EPISODES} seeds", count)


def check_files(table: str, video: str) -> None:
    """Refuse a table and a film that are one file."""
    if table and os.path.realpath(table) == os.path.realpath(video):
        raise expected("--csv", "another file than --video", table)


def seed_ranges(seeds: str) -> list[tuple[int, int]]:
    """Return the first and the last seed of each range; none for held-out and fresh."""
    parts = [part.split("-") for part in seeds.split(",") if seeds[0].isdigit()]
    return [(int(ends[0]), int(ends[-1])) for ends in parts]


def chosen_seeds(seeds: str, episodes: int, seed: int) -> NDArray[np.int64]:
    """Return the seeds (episodes,) that the words ask for.

    Args:
        seed: of the run.
    """
    if seeds == "held-out":
        return held_out_seeds(seed, episodes)
    if seeds == "fresh":
        return held_out_seeds(seed, episodes, Stream.FRESH)
    return np.concatenate([np.arange(first, last + 1) for first, last in seed_ranges(seeds)])


@dataclass(frozen=True)
class EvaluationPlan:
    """The evaluation that the command line asks for, on rank 0."""

    options: Options
    config: Config
    content: dict[str, Any]  # of the run's file; empty without one
    parameters: Candidate
    normalisation: Vector
    title: str


def main(comm: Comm, arguments: list[str]) -> int:
    """Evaluate, print, and return the exit code. Collective."""
    plan, config = plan_on_root(comm, lambda: prepare(arguments))
    evaluator = make_evaluator(comm, config, StopFlag(), survives=survivable())
    try:
        evaluator.loop.run_on_root(lambda: report(plan, evaluator))
    finally:
        evaluator.close_environments()
    return 0


def prepare(arguments: list[str]) -> EvaluationPlan:
    """Return the plan of the evaluation; read the run's file."""
    run, options = command_line.parse_run(arguments, Options(), "python -m mpi_es.evaluate", must=False)
    if bool(run) == bool(options.from_pretrained):
        rule = "the directory of a run as the first argument, or else --from-pretrained FILE"
        raise UserError(f"RUN: expected {rule}, got {'both' if run else 'nothing'}")
    for other in ("RUN" if run else "--from-pretrained", *(["--seeds"] if options.ranges else [])):
        command_line.refuse_idle(arguments, IDLE[other], other, Options)
    plan = of_run(run, options) if run else of_file(options, arguments)
    if len(plan.parameters) != (dim := make_policy(plan.config).dim):
        rule = f"an environment whose policy has the {len(plan.parameters)} parameters of this one"
        raise expected("--env", rule, f"{plan.config.env} with {dim}")
    if options.video or options.frames or options.render:
        footage(plan).check()
    if options.csv:
        write_csv(Path(options.csv), None)  # a file that cannot be written is reported before the work
    return plan


def of_run(run: str, options: Options) -> EvaluationPlan:
    """Return the plan of evaluating a run's policy."""
    content, warning = checkpoint.load(Path(run))
    checkpoint.check_agent(content, Path(run))
    if warning:
        warn(warning)
    chosen = checkpoint.centre_of(content, options.candidate, run)
    stored = description.config_of(Config, content["config"])
    fields = [name for name in imports.AGENT if name != "env" or not options.env]
    imports.check(stored, run, allowed=options.imports, fields=fields)
    config = placed(stored, options)
    title = f"{options.candidate} centre, of generation {chosen['generation']}"
    return EvaluationPlan(options, config, content, chosen["candidate"], chosen["normalisation"], title)


def of_file(options: Options, arguments: list[str]) -> EvaluationPlan:
    """Return the plan of evaluating the policy that a file holds."""
    given = preset(options.preset, evolve="all", layout=options.layout)
    agent = load.load(options.from_pretrained, given, "--from-pretrained", allow_imports=options.imports)
    if agent.described:
        command_line.refuse_idle(arguments, IDLE["RUN"], "a file that names it", Options)
    config = placed(agent.config, options)
    return EvaluationPlan(options, config, {}, agent.parameters, agent.normalisation, options.from_pretrained)


def placed(config: Config, options: Options) -> Config:
    """Return a config in the environment that the options name, or else in that of its held-out episodes."""
    bare = default("strategy", "cma_es")  # no table of noise is made
    config = replace(config.held_out, compiled=config.compiled and options.compiled, strategy=bare)
    if not (options.env or options.env_options):
        return config
    return replace(
        config, env=CAR_RACING.get(options.env, options.env) or config.env, env_options=options.env_options
    )


def report(plan: EvaluationPlan, evaluator: Evaluator) -> None:
    """Evaluate on rank 0 and print the scores."""
    options = plan.options
    seeds = episode_seeds(plan)
    normalisation = plan.normalisation if plan.normalisation.size else None
    if normalisation is not None and normalisation.shape[1] != evaluator.rollout.size:
        rule = f"a normalisation of the {evaluator.rollout.size} observed numbers"
        raise expected(plan.title, rule, normalisation.shape[1])
    terms = evaluator.held_out_terms(plan.config.episode_cap, normalisation)
    if options.video or options.frames or options.render:  # first, since drawing may fail
        first = Episode(0, 0, int(seeds[0]), plan.parameters)
        print(footage(plan).shoot(evaluator.rollout.policy, first, terms, plan.title), flush=True)
    result = evaluator.evaluate(Dense(plan.parameters[None].astype(float)), seeds[None], terms)
    returns = result.returns[0]
    print(f"{plan.title}: {summary(returns)}")
    for line in (compared(plan, returns), chosen_by(plan)):
        if line:
            print(line)
    if options.csv:
        parts = seeds.tolist(), returns.tolist(), result.lengths[0].tolist()
        write_csv(Path(options.csv), zip(*parts, strict=True))


def footage(plan: EvaluationPlan) -> Any:
    """Return the writer of film and frames."""
    from mpi_es.film.film import Footage  # Pillow and ffmpeg, which scores alone do not need

    return Footage(plan.config, plan.options.video, plan.options.frames, plan.options.render)


def episode_seeds(plan: EvaluationPlan) -> NDArray[np.int64]:
    """Return the seeds (episodes,) that the options ask for."""
    return chosen_seeds(plan.options.seeds, plan.options.episodes, plan.config.seed)


def compared(plan: EvaluationPlan, returns: NDArray[np.float64]) -> str:
    """Return how the returns compare with those that the run logged of the candidate; empty without a log."""
    options = plan.options
    if not plan.content or options.env or options.env_options or options.seeds != "held-out":
        return ""
    generation = plan.content[options.candidate]["generation"]
    return compared_with(plan.content["evaluations"], generation, returns)


def chosen_by(plan: EvaluationPlan) -> str:
    """Return a warning of a score that is the best of several on the same seeds; empty where it is not."""
    options, looks = plan.options, len(plan.content.get("evaluations", {}).get("generation", ()))
    elsewhere = options.env or options.env_options or options.seeds != "held-out"
    if options.candidate != "best" or elsewhere or looks < 2:
        return ""
    return f"this is the best of {looks} means on these seeds, which is partly luck; report --seeds fresh"


def compared_with(logged: dict[str, Any], generation: int, returns: NDArray[np.float64]) -> str:
    """Return how returns compare with those that were logged of a generation; empty if none were."""
    found = np.flatnonzero(logged["generation"] == generation)
    if not found.size:
        return ""
    row = logged["returns"][found[-1]]
    row = row[~np.isnan(row)][: len(returns)]
    same = np.array_equal(row, returns[: len(row)])
    verdict = "equal to the bit" if same else "DIFFERENT: other versions of the libraries?"
    episodes = "episode is that" if len(row) == 1 else f"{len(row)} episodes are those"
    return f"the first {episodes} logged at generation {generation}: {verdict}"


def write_csv(path: Path, rows: Iterable[tuple[int, float, int]] | None) -> None:
    """Write episodes into a file; without rows, only check that it can be written."""
    new = not os.path.lexists(path)
    try:
        with path.open("a" if rows is None else "w", newline="") as file:
            if rows is not None:
                writer = csv.writer(file)
                writer.writerow(["episode_seed", "return", "length"])
                writer.writerows(rows)
        if rows is None and new:
            path.unlink()
    except OSError as error:
        raise UserError(f"--csv: cannot write {path} ({error.strerror})") from error


if __name__ == "__main__":
    launch(main)
