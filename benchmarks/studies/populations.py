"""Population-based training against training without it, at equal steps: selections, explorations, seeds.

nohup nice -n 19 python benchmarks/studies/populations.py run [TASK …] [--settings …] [--seeds 10] &
python benchmarks/studies/populations.py show

`run` trains a population for each setting, one seed of all settings before the next, and adds the held-out
means of its best members to docs/pbt/study.csv, or to --results; what stands there is not trained again.
`show` prints the tables of docs/pbt/README.md and draws them beside the csv. Each setting has the same
members with the same initial weights and hyperparameters on a seed, and the same steps, so that settings are
compared seed by seed; `one agent` has the defaults and takes all the steps alone. A step is a step whatever
else the machine does.

    descent        noisy gradient descent on a quadratic function, whose best schedule is known
    CartPole       PPO of Stable-Baselines3
    Acrobot        PPO of Stable-Baselines3
    Ant            PPO of Stable-Baselines3, with the ranges of the preset `ant`; four members
    LunarLander    OpenAI-ES in compiled episodes; a step is an episode
    BipedalWalker  OpenAI-ES in compiled episodes; a step is an episode
"""

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import matplotlib as mpl
import numpy as np
import results
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from mpi_es.parallel.collectives import SerialComm
from mpi_es.run_file.scores import half_interval
from pbt import train
from pbt.record import load

GENERATIONS = 20
RESULTS = Path(__file__).parents[2] / "docs" / "pbt" / "study.csv"
BASELINE, ALONE = "random search", "one agent"
SETTINGS = {
    BASELINE: ("--selection", "none"),
    ALONE: ("--selection", "none", "--tune", "none"),  # with the steps of a whole population
    "own hyperparameters": ("--selection", "none", "--tune", "none"),
    "truncation, no exploration": ("--explore", "none"),
    **{
        f"{selection}, {explore}": ("--selection", selection, "--explore", explore)
        for selection in ("truncation", "winner-takes-all", "tournament", "mf-pbt")
        for explore in ("perturb", "pb2")
    },
}


@dataclass(frozen=True)
class Task:
    """What is trained, what is tuned, and how many steps a member takes in each step of --steps."""

    words: tuple[str, ...]
    tune: tuple[str, ...] = ()  # empty: what the preset tunes
    unit: int = 1
    members: int = 8
    known: float = math.nan  # the score of the best schedule


def _ppo(env: str, *words: str) -> Task:
    """Return a task of Stable-Baselines3's PPO."""
    common = ("--member", "sb3", "--env", env, "--num-rollouts", "5", "--num-eval-rollouts", "50")
    tune = ("learning_rate", "gamma", "gae_lambda", "ent_coef", "clip_range")
    return Task((*common, "--member-options", "batch_size=256", *words), tune)


def _es(env: str, *words: str) -> Task:
    """Return a task of OpenAI-ES with 48 candidates, of one episode each."""
    common = ("--member", "es", "--env", env, "--obs-norm", "--num-rollouts", "16")
    options = ("--member-options", "population_size=48", "num_rollouts=1")
    return Task((*common, *options, *words), ("sigma", "learning_rate"), 48)


TASKS = {
    "descent": Task(
        ("--member", "noisy_quadratic:Descent", "--steps", "50", "--num-rollouts", "1"),
        ("rate",),
        known=math.log10(GENERATIONS * 50 + 1),
    ),
    "CartPole": _ppo("CartPole-v1", "n_steps=32", "--num-envs", "8", "--steps", "1024"),
    "Acrobot": _ppo("Acrobot-v1", "n_steps=256", "--num-envs", "16", "--steps", "8192"),
    "Ant": Task(("ant", "--num-eval-rollouts", "10"), members=4),
    "LunarLander": _es("mpi_es/LunarLander-v3", "hidden=8", "--steps", "10"),
    "BipedalWalker": _es("mpi_es/BipedalWalker-v3", "hidden=", "--steps", "20"),
}


def train_one(root: Path, name: str, seed: int) -> results.Curve:
    """Train a population, or continue it, and return the held-out means of its best members."""
    of, _, setting = name.partition(": ")
    task, directory = TASKS[of], results.directory_of(root, name, seed)
    longer = task.members if setting == ALONE else 1
    words = [*task.words, *SETTINGS[setting], "--seed", str(seed), "--eval-every", str(2 * longer)]
    words += ["--num-agents", str(task.members // longer), "--max-iter", str(GENERATIONS * longer)]
    words += ["--tune", *task.tune] if task.tune and "--tune" not in words else []
    quiet = ("--console", "silent", "--no-tensorboard", "--run-dir", str(directory), "--continue")
    with threadpool_limits(1):
        train.main(SerialComm(), [*words, *quiet])
    config, content = load(directory)
    if not content["life"]["finished"]:
        sys.exit(f"{directory.name}: was interrupted")
    held_out = content["evaluations"]
    cost = held_out["generation"] * config.num_agents * config.steps * task.unit / 1000
    return np.column_stack([held_out["generation"], cost, held_out["returns"].mean(axis=1)])


def run(options: argparse.Namespace) -> None:
    """Train what is missing, a population on each core."""
    names = [f"{task}: {setting}" for task in options.tasks for setting in options.settings]
    missing = results.missing(options.results, names, range(1, options.seeds + 1))
    pool = ProcessPoolExecutor(options.cores, get_context("spawn"))  # numba's threads do not survive a fork
    try:
        begun = {key: pool.submit(train_one, options.directory, *key).result for key in missing}
        results.train_all(options.results, options.cores, begun)
    finally:
        pool.shutdown(cancel_futures=True)


# What is shown


def ends(curves: results.Curves, task: str, setting: str) -> dict[int, float]:
    """Return the last held-out mean of each seed."""
    wanted = f"{task}: {setting}"
    return {seed: float(curve[-1, 2]) for (name, seed), curve in curves.items() if name == wanted}


def show(options: argparse.Namespace) -> None:
    """Print a table for each task, and draw the means."""
    curves = results.done(options.results)
    known = [task for task in TASKS if ends(curves, task, BASELINE)]
    for task in known:
        before, best = ends(curves, task, BASELINE), TASKS[task].known
        note = "" if math.isnan(best) else f", best schedule {best:.2f}"
        print(f"\n| {task}{note} | seeds | held-out mean | more than {BASELINE} |\n{'| --- ' * 4}|")
        for setting in SETTINGS:
            if of_seeds := ends(curves, task, setting):
                both = before.keys() & of_seeds.keys() if setting != BASELINE else ()
                more = with_interval([of_seeds[seed] - before[seed] for seed in both])
                print(f"| {setting} | {len(of_seeds)} | {with_interval([*of_seeds.values()])} | {more} |")
    draw(curves, known).savefig(options.results.with_suffix(".png"), dpi=120)


def with_interval(values: list[float]) -> str:
    """Return the mean and half of its 95 % interval over seeds."""
    if not values:
        return ""
    digits, half = (0 if max(map(abs, values)) >= 10 else 2), half_interval(np.array(values))
    return f"{np.mean(values):.{digits}f}" + (f" ± {half:.{digits}f}" if half else "")


def draw(curves: results.Curves, tasks: list[str]) -> Figure:
    """Return a panel for each task, with each seed, the mean and its 95 % interval."""
    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure((2 + 3 * len(tasks), 3), layout="constrained")
        panels = figure.subplots(1, len(tasks), squeeze=False, sharey=True)[0]
        for panel, task in zip(panels, tasks, strict=True):
            for place, setting in enumerate(SETTINGS):
                ended = np.array([*ends(curves, task, setting).values()])
                panel.plot(ended, [place] * len(ended), ".", color="#bbbbbb", ms=3)
                if len(ended):
                    panel.errorbar(ended.mean(), place, xerr=half_interval(ended), fmt="o", color="C0", ms=4)
            if not math.isnan(TASKS[task].known):
                panel.axvline(TASKS[task].known, color="#bbbbbb", linewidth=0.8)
            panel.set_title(task, loc="left")
        figure.axes[0].set_yticks(range(len(SETTINGS)), SETTINGS)
        figure.axes[0].invert_yaxis()
        figure.supxlabel("held-out mean of the best member after the last generation")
        return figure


def main() -> None:
    parser = results.parser(__doc__, TASKS, Path("runs/populations"), RESULTS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS), metavar="SETTING")
    options = parser.parse_args()
    {"run": run, "show": show}[options.section](options)


if __name__ == "__main__":
    main()
