"""Every strategy on four environments: at equal steps, with a sigma chosen on one seed, on three others.

nohup nice -n 19 python benchmarks/studies/strategies.py run [TASK …] [--cores 2] > strategies.log &
python benchmarks/studies/strategies.py show

`run` trains each strategy from three sigmas on seed 0, then from the best of them on the seeds 1, 2 and 3,
each until it has spent the task's steps; what was interrupted is continued. A step is a step whatever else
the machine does. The curves of what is done are added to docs/strategies/environments.csv, or to --results,
and not trained again. `show` prints the tables of docs/strategies.md and draws the curves beside the csv.

Network, episodes, candidates and held-out episodes are those of the task's preset for all strategies. The
learning rate is 0.4 of sigma, as in the presets of OpenAI-ES.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
import results
from matplotlib.figure import Figure

from mpi_es import load_run
from mpi_es.errors import UserError
from mpi_es.reports.curves import load

RESULTS = Path(__file__).parents[2] / "docs" / "strategies" / "environments.csv"
CHECK = 2  # seconds between looks at a run
TRIAL, SEEDS = 0, (1, 2, 3)
SIGMAS = 0.05, 0.15, 0.5  # to choose from
STRATEGIES = "cma_es", "cr_fm_nes", "snes", "pepg", "openai_es", "ga"
CLIMBING, RATE = ("pepg", "openai_es"), 0.4  # those that have a learning rate, a share of sigma


@dataclass(frozen=True)
class Task:
    """A preset, the million steps of a run, and the held-out mean that counts as reached."""

    words: tuple[str, ...]
    millions: float
    score: float


TASKS = {
    "CartPole": Task(("cartpole", "--eval-every", "1"), 0.3, 475),
    "LunarLander": Task(("lunarlander", "--eval-every", "5"), 3, 200),
    "HalfCheetah": Task(("halfcheetah", "--episode-seeds", "common", "--eval-every", "5"), 3, 2000),
    "CarRacing": Task(  # five minutes of a core
        ("carracing-fast", "--cma-variant", "separable", "--eval-every", "5"), 3, 700
    ),
}


def name_of(task: str, strategy: str, sigma: float) -> str:
    """Return a setting's name."""
    return f"{task}, {strategy}, sigma {sigma:g}"


def chosen(curves: results.Curves, task: str, strategy: str) -> float:
    """Return the sigma that ends best on the trial's seed."""
    return max(SIGMAS, key=lambda sigma: results.end_of(curves[name_of(task, strategy, sigma), TRIAL]))


def train(root: Path, task: str, strategy: str, sigma: float, seed: int) -> results.Curve:
    """Train a strategy until the task's steps are spent."""
    words: list[object] = [*TASKS[task].words, "--strategy", strategy, "--init-sigma", sigma, "--seed", seed]
    words += ["--num-eval-rollouts", 50, "--max-iter", 1_000_000, "--target-fitness", "None"]
    if strategy in CLIMBING:
        words += ["--learning-rate", RATE * sigma]
    directory = results.directory_of(root, name_of(task, strategy, sigma), seed)
    return train_until(directory, words, TASKS[task].millions)


def train_until(directory: Path, words: Iterable[object], millions: float) -> results.Curve:
    """Begin a training, or continue it, until it has cost so many million steps or ends.

    Return the held-out means of those steps, the cost in millions.
    """
    command = [sys.executable, "-m", "mpi_es.train", *words, "--run-dir", directory, "--continue"]
    command += ["--console", "silent", "--no-tensorboard"]

    def is_spent() -> bool:
        try:
            return bool(load(directory).axes["steps"][-1] >= 1e6 * millions)
        except UserError:  # it has no generation yet
            return False

    if not is_spent():
        with subprocess.Popen([str(word) for word in command]) as process:
            while process.poll() is None and not is_spent():
                time.sleep(CHECK)
            process.send_signal(signal.SIGUSR1)
        if process.returncode:
            sys.exit(f"{directory.name}: ended with code {process.returncode}")
        if not is_spent() and not load_run(directory)["life"]["finished"]:
            sys.exit(f"{directory.name}: was interrupted")
    print(directory.name, flush=True)
    run = load(directory)
    cost = run.axes["steps"] / 1e6
    points = [(e.generation, cost[e.generation], e.mean) for e in run.evaluations]
    curve: results.Curve = np.array(points).reshape(-1, 3)
    return curve[curve[:, 1] <= millions]


def run_all(options: argparse.Namespace) -> None:
    """Train what is missing: the trials of a task before its seeds, a seed of all before the next."""
    pairs = [(task, strategy) for task in options.tasks for strategy in STRATEGIES]
    trials = [(*pair, sigma, TRIAL) for pair in pairs for sigma in SIGMAS]
    train_all(options, trials)
    known = results.read(options.results)
    train_all(options, [(*pair, chosen(known, *pair), seed) for seed in SEEDS for pair in pairs])


def train_all(options: argparse.Namespace, runs: Iterable[tuple[str, str, float, int]]) -> None:
    """Train those runs that the results do not know, one on each core."""
    known = results.read(options.results)
    keys = {(name_of(*run[:3]), run[3]): run for run in runs}
    missing = {key: partial(train, options.directory, *run) for key, run in keys.items() if key not in known}
    results.train_all(options.results, options.cores, missing)


# What is shown


def on_seeds(curves: results.Curves, task: str) -> dict[str, list[results.Curve]]:
    """Return the curves of the seeds, the trial left out, of those strategies that have any."""
    found: dict[str, list[results.Curve]] = {}
    for (setting, seed), curve in sorted(curves.items(), key=lambda item: item[0][1]):
        of, strategy, _ = setting.split(", ")
        if of == task and seed != TRIAL:
            found.setdefault(strategy, []).append(curve)
    return {strategy: found[strategy] for strategy in STRATEGIES if strategy in found}


def show(options: argparse.Namespace) -> None:
    """Print the trials and a table for each task, and draw the curves."""
    curves = results.done(options.results)
    show_trials(curves)
    for name, task in TASKS.items():
        found = on_seeds(curves, name)
        if not found:
            continue
        print(f"\n| {name} | sigma | each seed | median | million steps to {task.score:g} |\n{'| --- ' * 5}|")
        for strategy, of_seeds in found.items():
            ends = [results.end_of(curve) for curve in of_seeds]
            spent = float(np.median([results.cost_of(curve, task.score) for curve in of_seeds]))
            shown = "–" if np.isinf(spent) else f"{spent:.2g}"
            cells = f"{', '.join(f'{end:.0f}' for end in ends)} | {np.median(ends):.0f}"
            print(f"| {strategy} | {chosen(curves, name, strategy):g} | {cells} | {shown} |")
    draw(curves).savefig(options.results.with_suffix(".png"), dpi=120)


def show_trials(curves: results.Curves) -> None:
    """Print what each strategy came to from each sigma on the trial's seed."""
    print(f"| | {' | '.join(TASKS)} |\n{'| --- ' * (len(TASKS) + 1)}|")
    for strategy in STRATEGIES:
        cells = []
        for task in TASKS:
            found = [curves.get((name_of(task, strategy, sigma), TRIAL)) for sigma in SIGMAS]
            cells.append(
                ", ".join("–" if curve is None else f"{results.end_of(curve):.0f}" for curve in found)
            )
        print(f"| {strategy} | {' | '.join(cells)} |")


def draw(curves: results.Curves) -> Figure:
    """Return a panel for each task, a line for each seed."""
    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure((10, 6), layout="constrained")
        for panel, (name, task) in zip(figure.subplots(2, 2).ravel(), TASKS.items(), strict=True):
            panel.axhline(task.score, color="#bbbbbb", linewidth=0.8)
            for strategy, of_seeds in on_seeds(curves, name).items():
                colour = f"C{STRATEGIES.index(strategy)}"
                for number, curve in enumerate(of_seeds):
                    label = strategy if number == 0 else None
                    panel.plot(curve[:, 1], curve[:, 2], color=colour, linewidth=1, label=label)
            panel.set_title(name, loc="left")
        figure.axes[0].legend(frameon=False)
        figure.supxlabel("million steps of training")
        figure.supylabel("held-out return, mean of 50 episodes")
        return figure


def main() -> None:
    parser = results.parser(__doc__, TASKS, Path("runs/strategies"), RESULTS)
    options = parser.parse_args()
    {"run": run_all, "show": show}[options.section](options)


if __name__ == "__main__":
    main()
