"""MuJoCo's bodies at the steps for which others published a score: ours, OpenAI-ES's settings, ARS.

nohup nice -n 19 python benchmarks/studies/mujoco.py run [BODY …] [--only ours ars] > mujoco.log &
python benchmarks/studies/mujoco.py show

`run` trains the presets of each body until the largest number of published steps is spent, or, where that is
above 20 million, until a held-out mean passes all published scores of the body; one seed of all before the
next. What was interrupted is continued. The curves of what is done are added to docs/mujoco/study.csv, or to
--results, and not trained again. `show` prints the table of docs/mujoco.md: the last held-out mean within the
published steps. A step is a step whatever else the machine does.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import results
from strategies import train_until

from mpi_es.config.presets import preset
from mpi_es.config.presets_mujoco import SEARCHES

RESULTS = Path(__file__).parents[2] / "docs" / "mujoco" / "study.csv"
RECIPES = {"ours": "{}", "64-64": "{}-64", "ars": "ars-{}"}  # names of presets
HELD_OUT, BETWEEN = 20, 320  # episodes of an evaluation, and of training from one to the next
LONG = 20  # million steps: a run to so many ends once the published scores are passed
OPENAI, ZOO = "OpenAI-ES", "ARS, RL Zoo"


class Published(NamedTuple):
    """What others report."""

    body: str
    by: str
    score: float
    millions: float  # steps


PUBLISHED = (
    Published("InvertedPendulum", OPENAI, 1000.0, 0.455),
    Published("InvertedDoublePendulum", OPENAI, 9104.07, 5.39),
    Published("Swimmer", OPENAI, 128.25, 1.39),
    Published("Swimmer", ZOO, 355, 2),
    Published("HalfCheetah", OPENAI, 2385.79, 2.88),
    Published("HalfCheetah", ZOO, 4815, 12),
    Published("Hopper", ZOO, 3344, 7),
    Published("Hopper", OPENAI, 3403.46, 31.6),
    Published("Walker2d", OPENAI, 3830.03, 37.9),
    Published("Walker2d", ZOO, 2994, 75),
    Published("Ant", ZOO, 2334, 75),
)
BODIES = list(dict.fromkeys(one.body for one in PUBLISHED))


def recipes_of(body: str) -> dict[str, str]:
    """Return the presets of a body, by what the table calls them."""
    return {
        name: preset.format(body.lower())
        for name, preset in RECIPES.items()
        if name != "ars" or body in SEARCHES
    }


def train(root: Path, body: str, recipe: str, seed: int) -> results.Curve:
    """Train a preset until the published steps are spent, or a long run passes all scores."""
    published = [one for one in PUBLISHED if one.body == body]
    millions = max(one.millions for one in published)
    target = max(one.score for one in published) if millions > LONG else None
    name = recipes_of(body)[recipe]
    generations = max(1, BETWEEN // preset(name).strategy.population_size)
    words = [name, "--seed", seed, "--num-eval-rollouts", HELD_OUT, "--eval-every", generations]
    words += ["--max-iter", 1_000_000, "--target-fitness", target]
    return train_until(results.directory_of(root, f"{body}, {recipe}", seed), words, millions)


def run(options: argparse.Namespace) -> None:
    """Train what is missing."""
    pairs = [(body, recipe) for body in options.tasks for recipe in recipes_of(body)]
    names = [f"{body}, {recipe}" for body, recipe in pairs if recipe in options.only]
    missing = results.missing(options.results, names, range(1, options.seeds + 1))
    trainings = {}
    for name, seed in missing:
        body, recipe = name.split(", ")
        trainings[name, seed] = partial(train, options.directory, body, recipe, seed)
    results.train_all(options.results, options.cores, trainings)


def show(options: argparse.Namespace) -> None:
    """Print a row for each published score and recipe."""
    curves = results.done(options.results)
    print("| | published | million steps | by | ours then, each seed | million steps to the score |")
    print("| --- " * 6 + "|")
    for one in PUBLISHED:
        for recipe in recipes_of(one.body):
            found = results.by_setting(curves, [f"{one.body}, {recipe}"]).values()
            for of_seeds in found:
                within = [curve[curve[:, 1] <= one.millions] for curve in of_seeds]
                ends = ", ".join(f"{curve[-1, 2]:,.0f}" for curve in within)
                spent = float(np.median([results.cost_of(curve, one.score) for curve in of_seeds]))
                cells = (f"{one.body}, {recipe}", f"{one.score:,g}", f"{one.millions:g}", one.by, ends)
                print(f"| {' | '.join(cells)} | {'–' if np.isinf(spent) else f'{spent:.2g}'} |")


def main() -> None:
    parser = results.parser(__doc__, BODIES, Path("runs/mujoco"), RESULTS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=RECIPES, default=list(RECIPES), metavar="RECIPE")
    options = parser.parse_args()
    {"run": run, "show": show}[options.section](options)


if __name__ == "__main__":
    main()
