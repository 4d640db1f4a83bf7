"""python -m mpi_es.evaluate RUN: the held-out score of a run's policy; parallel under mpiexec.

Without RUN, --from-pretrained FILE names the policy.
"""

import csv
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mpi_es.agents import load
from mpi_es.agents.agent import Agent, deployed
from mpi_es.agents.episode_seeds import check_episodes, chosen_seeds, seed_ranges
from mpi_es.agents.load import Place
from mpi_es.config import command_line
from mpi_es.config.presets import PRESETS, preset
from mpi_es.config.run import Config, Layout
from mpi_es.errors import UserError, expected, unknown
from mpi_es.evaluation.build import make_evaluator
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.rollout import Episode
from mpi_es.extras import needed_for
from mpi_es.parallel.collective_errors import plan_on_root
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.entry_point import launch
from mpi_es.parallel.rank_loss import survivable
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file.scores import summary

# By argument: the options that have no effect next to it.
UNUSED = {
    "RUN": ("preset", "layout"),
    "--from-pretrained": ("candidate",),
    "a list of --seeds": ("episodes",),
}


@dataclass(frozen=True)
class EpisodeOptions:
    """Which episodes an evaluation plays, and what it writes and shows of them."""

    episodes: int = 100
    """Number of episodes; a list of --seeds has its own"""
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
    imports: bool = True
    """Import code that the file of the run names; --no-imports: refuse such a file"""

    def __post_init__(self) -> None:
        """Refuse options that no evaluation can have."""
        check_episodes(self.episodes, self.seeds)
        if self.csv and self.video and os.path.realpath(self.csv) == os.path.realpath(self.video):
            raise expected("--csv", "a file other than that of --video", self.csv)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """First and last seed of each range; empty for held-out and fresh."""
        return seed_ranges(self.seeds)

    def chosen_seeds(self, seed: int) -> NDArray[np.int64]:
        """Return the seeds (episodes,) that are asked for of a run with this seed."""
        return chosen_seeds(self.seeds, self.episodes, seed)

    @property
    def shows(self) -> bool:
        """Whether the first episode is recorded, or shown in a window."""
        return bool(self.video or self.frames or self.render)

    def footage(self, config: Config) -> Any:
        """Return the writer of film and frames of the config's episodes."""
        with needed_for("--video" if self.video else "--frames" if self.frames else "--render"):
            from mpi_es.film.film import Footage  # Pillow and ffmpeg, which scores alone do not need

        return Footage(config, self.video, self.frames, self.render)


@dataclass(frozen=True)
class Options(EpisodeOptions):
    """Evaluate the policy of a run on episodes that its training did not use."""

    candidate: Literal["best", "last"] = "best"
    """The centre with the best held-out evaluation, or the last one"""
    env: str = ""
    """Environment instead of the run's, such as CarRacing-v3 instead of mpi_es/CarRacing-v3"""
    env_options: tuple[str, ...] = ()
    """Arguments of the environment instead of the run's: name=value"""
    compiled: bool = True
    """Run whole episodes in compiled code if policy and environment allow it, with the same results"""
    from_pretrained: str = ""
    """Run, run.h5 or npz file with the agent, instead of RUN"""
    preset: str = "carracing"
    """Preset with which an npz file without a config was trained"""
    layout: Layout = "torch"
    """Order of the parameters in an npz file that does not name it"""

    def __post_init__(self) -> None:
        """Refuse options that no evaluation can have."""
        super().__post_init__()
        if self.preset not in PRESETS:
            raise unknown("--preset", self.preset, PRESETS)


@dataclass(frozen=True)
class EvaluationPlan:
    """The evaluation that the command line asks for, on rank 0."""

    options: Options
    config: Config  # of the episodes
    agent: Agent
    content: dict[str, Any]  # of the run's file; empty without one
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
    for other in ("RUN" if run else "--from-pretrained", *(["a list of --seeds"] if options.ranges else [])):
        command_line.refuse_unused(arguments, UNUSED[other], other, Options)
    plan = of_run(run, options) if run else of_file(options, arguments)
    if options.shows:
        options.footage(plan.config).check()
    if options.csv:
        write_csv(Path(options.csv), None)  # a file that cannot be written is reported before the work
    return plan


def of_run(run: str, options: Options) -> EvaluationPlan:
    """Return the plan of evaluating a run's policy."""
    content = load.content_of(Path(run))
    agent = load.of_run(content, options.candidate, run, place(options))
    title = f"{options.candidate} centre, of generation {content[options.candidate]['generation']}"
    return EvaluationPlan(options, _config(agent, options), agent, content, title)


def of_file(options: Options, arguments: list[str]) -> EvaluationPlan:
    """Return the plan of evaluating the policy that a file holds."""
    given = preset(options.preset, evolve="all", layout=options.layout)
    agent = load.load(options.from_pretrained, given, "--from-pretrained", place(options))
    if agent.described:
        command_line.refuse_unused(arguments, UNUSED["RUN"], "a file that describes its agent", Options)
    return EvaluationPlan(options, _config(agent, options), agent, {}, options.from_pretrained)


def place(options: Options) -> Place:
    """Return where the agent plays: in the environment that the options name, else in its run's."""
    changes: dict[str, Any] = {"env": options.env} if options.env else {}
    if options.env or options.env_options:
        changes |= {"env_options": options.env_options, "held_out_env_options": ()}
    return Place(changes, allow_imports=options.imports)


def _config(agent: Agent, options: Options) -> Config:
    """Return the config of the episodes."""
    return replace(deployed(agent.config), compiled=agent.config.compiled and options.compiled)


def report(plan: EvaluationPlan, evaluator: Evaluator) -> None:
    """Evaluate on rank 0 and print the scores."""
    options = plan.options
    seeds = options.chosen_seeds(plan.config.seed)
    if options.shows:  # first, since drawing may fail
        policy, rules = evaluator.rollout.policy, plan.agent.rules(evaluator)
        first = Episode(0, 0, int(seeds[0]), policy.as_candidate(plan.agent.parameters))
        print(options.footage(plan.config).shoot(policy, first, rules, plan.title), flush=True)
    result = plan.agent.play(evaluator, seeds)
    returns = result.returns[0]
    print(f"{plan.title}: {summary(returns)}")
    for line in (compared(plan, returns), chosen_by(plan)):
        if line:
            print(line)
    if options.csv:
        parts = seeds.tolist(), returns.tolist(), result.lengths[0].tolist()
        write_csv(Path(options.csv), zip(*parts, strict=True))


def compared(plan: EvaluationPlan, returns: NDArray[np.float64]) -> str:
    """Return how the returns compare with those that the run logged for the candidate;
    empty without a log.
    """
    options = plan.options
    if not plan.content or options.env or options.env_options or options.seeds != "held-out":
        return ""
    generation = plan.content[options.candidate]["generation"]
    return compared_with(plan.content["evaluations"], generation, returns)


def chosen_by(plan: EvaluationPlan) -> str:
    """Return a warning if the score is the best of several on the same seeds; else an empty text."""
    options = plan.options
    elsewhere = options.env or options.env_options or options.seeds != "held-out"
    is_chosen = plan.content and options.candidate == "best" and not elsewhere
    return partly_luck(plan.content["evaluations"]) if is_chosen else ""


def partly_luck(logged: dict[str, Any]) -> str:
    """Return a warning that the best of several logged scores is partly luck; empty if there is only one."""
    looks = len(logged["generation"])
    if looks < 2:
        return ""
    return (
        f"this is the best of {looks} means on these seeds, which is partly luck; "
        "to report a score, use --seeds fresh"
    )


def compared_with(logged: dict[str, Any], generation: int, returns: NDArray[np.float64]) -> str:
    """Return how returns compare with those logged for a generation; empty if none were."""
    found = np.flatnonzero(logged["generation"] == generation)
    if not found.size:
        return ""
    row = logged["returns"][found[-1]]
    row = row[~np.isnan(row)][: len(returns)]
    same = np.array_equal(row, returns[: len(row)])
    verdict = "bit-identical" if same else "DIFFERENT: other versions of the libraries?"
    episodes = "first episode" if len(row) == 1 else f"first {len(row)} episodes"
    return f"{episodes}, compared with the log of generation {generation}: {verdict}"


def write_csv(path: Path, rows: Iterable[tuple[int, float, int]] | None) -> None:
    """Write episodes into a file; without rows, only check that it can be written."""
    if path.suffix in (".h5", ".npz"):
        raise expected("--csv", "a file other than a run's or an agent's", str(path))
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
