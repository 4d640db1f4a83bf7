"""OpenAI-ES with full noise and with noise of low rank, at equal steps, on three seeds.

nohup nice -n 19 python benchmarks/studies/low_rank.py run [TASK …] [--cores 2] > low_rank.log &
python benchmarks/studies/low_rank.py show

`run` adds the curves of what is done to docs/strategies/low_rank.csv, or to --results, and does not train it
again; what was interrupted is continued. `show` prints the table of docs/algorithms.md. Network, sigma and
learning rate are the same for all noises.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import results
from strategies import TASKS, train_until

RESULTS = Path(__file__).parents[2] / "docs" / "strategies" / "low_rank.csv"
SEEDS = 1, 2, 3
NOISES: dict[str, tuple[object, ...]] = {
    "full": (),
    "rank 1": ("--noise", "low-rank"),
    "rank 4": ("--noise", "low-rank", "--noise-rank", 4),
}
MILLIONS = {"CartPole": 0.3, "LunarLander": 1.0}  # of steps
COMMON = ("--hidden", 64, 64, "--strategy", "openai_es", "--init-sigma", 0.15, "--learning-rate", 0.06)


def train(root: Path, task: str, noise: str, seed: int) -> results.Curve:
    """Train with a noise until the task's steps are spent."""
    words: list[object] = [*TASKS[task].words, *COMMON, *NOISES[noise], "--seed", seed]
    words += ["--num-eval-rollouts", 50, "--max-iter", 1_000_000, "--target-fitness", "None"]
    directory = results.directory_of(root, f"{task}, {noise}", seed)
    return train_until(directory, words, MILLIONS[task])


def run_all(options: argparse.Namespace) -> None:
    """Train what is missing."""
    settings = {f"{task}, {noise}": (task, noise) for task in options.tasks for noise in NOISES}
    missing = results.missing(options.results, settings, SEEDS)
    trainings = {
        (setting, seed): partial(train, options.directory, *settings[setting], seed)
        for setting, seed in missing
    }
    results.train_all(options.results, options.cores, trainings)


def show(options: argparse.Namespace) -> None:
    """Print the last held-out means of each seed, and their median."""
    curves = results.done(options.results)
    print("| | million steps | noise | each seed | median |\n| --- | --- | --- | --- | --- |")
    for task in options.tasks:
        found = results.by_setting(curves, [f"{task}, {noise}" for noise in NOISES])
        for setting, of_seeds in found.items():
            ends = [results.end_of(curve) for curve in of_seeds]
            noise = setting.split(", ")[1]
            shown = ", ".join(f"{end:.0f}" for end in ends)
            print(f"| {task} | {MILLIONS[task]:g} | {noise} | {shown} | {np.median(ends):.0f} |")


def main() -> None:
    parser = results.parser(__doc__, MILLIONS, Path("runs/low_rank"), RESULTS)
    options = parser.parse_args()
    {"run": run_all, "show": show}[options.section](options)


if __name__ == "__main__":
    main()
