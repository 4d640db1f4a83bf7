"""What the flagship's learning needs: each choice changed alone, on several seeds, at equal cost.

python benchmarks/studies/learning.py run [--seeds 3] [--minutes 5] [--directory DIR] [--only VARIANT …]
python benchmarks/studies/learning.py show

`run` trains variants of `carracing-fast` from the paper's start, one seed of all before the next, each until
it has cost so many minutes of two cores; what was interrupted is continued. The clock counts a step of the
simulator as a tenth of a millisecond, which it takes on two cores, and ask and tell as they were measured, so
that other work on the machine does not decide. The curves of what is done are added to
docs/carracing/learning.csv, or to --results, and not trained again. `show` prints the held-out means and
draws them beside it.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
import results
import trainings
from matplotlib.figure import Figure

from mpi_es.reports.curves import Curves

RESULTS = Path(__file__).parents[2] / "docs" / "carracing" / "learning.csv"
STEP = 1e-4  # seconds on two cores (benchmarks/car_racing.py ranks)
OPTIONS = {
    "--strategy": "cma_es",
    "--cma-variant": "separable",
    "--init-sigma": "0.1",
    "--init-outputs": "",
    "--eval-every": "10",
    "--num-eval-rollouts": "50",
}
BASE = "sigma 0.1"
SMALL_ATTENTION = {"--query-dim": "2", "--no-bias": ""}  # of experiment 3.1: 588 parameters instead of 1,184
MLP = {"--controller": "mlp", "--num-frames": "2"}
VARIANTS: dict[str, dict[str, str]] = {
    BASE: {},
    "independent seeds": {"--episode-seeds": "independent"},
    "1 rollout": {"--num-rollouts": "1"},
    "4 rollouts": {"--num-rollouts": "4"},
    "popsize 32": {"--population-size": "32"},
    "popsize 128": {"--population-size": "128"},
    "popsize 256": {"--population-size": "256"},
    "sigma 0.05": {"--init-sigma": "0.05"},
    "sigma 0.2": {"--init-sigma": "0.2"},
    "no early stop": {"--early-stop": "0"},
    "episodes of 500 steps": {"--max-episode-length": "500"},
    "full covariance": {"--cma-variant": "full"},
    "csa": {"--sigma-rule": "csa"},
    "isotropic, csa": {"--cma-variant": "isotropic", "--sigma-rule": "csa"},
    "sigma 0.2, isotropic, csa": {
        "--init-sigma": "0.2",
        "--cma-variant": "isotropic",
        "--sigma-rule": "csa",
    },
    "sigma 0.2, 1 rollout": {"--init-sigma": "0.2", "--num-rollouts": "1"},
    "sigma 0.2, small attention": {"--init-sigma": "0.2", **SMALL_ATTENTION},
    "sigma 0.2, small attention, MLP": {"--init-sigma": "0.2", **SMALL_ATTENTION, **MLP},
    "small attention, RNN": {**SMALL_ATTENTION, "--controller": "rnn"},
    "sigma 0.2, 32 hidden": {"--init-sigma": "0.2", "--hidden": "32"},
    "OpenAI-ES": {"--strategy": "openai_es", "--learning-rate": "0.03"},
}


def cost(run: Curves) -> np.ndarray:
    """Return the seconds of two cores that a run's training has cost after each generation (n,)."""
    timing = run.content["timing"]
    return np.cumsum(STEP * run.history["steps"] + timing["ask"] + timing["tell"])


def spent(run: Curves) -> float:
    """Return what a run has cost so far."""
    return float(cost(run)[-1])


def train(directory: Path, options: dict[str, str], seed: int, budget: float) -> Curves:
    """Train until the budget is spent, from where the run is."""
    words = " ".join(f"{option} {value}" for option, value in (OPTIONS | options).items()).split()
    return trainings.train(directory, ["carracing-fast", *words, "--seed", seed], spent, budget, ranks=2)


def curve_of(run: Curves, minutes: float) -> results.Curve:
    """Return a run's held-out means of so many minutes, which are the curve's cost."""
    costs = np.concatenate([[0.0], cost(run) / 60])
    return trainings.up_to(trainings.held_out(run, costs), minutes)


def run_all(options: argparse.Namespace) -> None:
    """Train all variants on all seeds, but those that the results know."""
    budget = 60 * options.minutes
    seeds = range(1, options.seeds + 1)
    for name, seed in results.missing(options.results, options.only or VARIANTS, seeds):
        run = train(results.directory_of(options.directory, name, seed), VARIANTS[name], seed, budget)
        results.add(options.results, name, seed, curve_of(run, options.minutes))


def last(curve: results.Curve, mark: float) -> float:
    """Return the last held-out mean up to some minutes, nan if there is none."""
    known = curve[curve[:, 1] <= mark, 2]
    return float(known[-1]) if len(known) else np.nan


def shown_as(value: float) -> str:
    """Return a mean in words."""
    return "–" if np.isnan(value) else f"{value:.0f}"


def show(options: argparse.Namespace) -> None:
    """Print held-out means at thirds of the budget, and draw all."""
    marks = [options.minutes * share / 3 for share in (1, 2, 3)]
    shown = results.by_setting(results.done(options.results), VARIANTS)
    print(f"| changed | {' | '.join(f'{mark:.1f} min' for mark in marks)} | each seed |")
    print("| --- " * (len(marks) + 2) + "|")
    for name, found in shown.items():
        values = np.array([[last(curve, mark) for mark in marks] for curve in found])
        medians = " | ".join(map(shown_as, np.median(values, axis=0)))
        print(f"| {name} | {medians} | {', '.join(map(shown_as, values[:, -1]))} |")
    draw(shown).savefig(options.results.with_suffix(".png"), dpi=120)


def draw(shown: dict[str, list[results.Curve]]) -> Figure:
    """Return a panel for each variant beside the base: each seed a line."""
    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure, panels = results.grid(len(shown), height=2, sharex=True, sharey=True)
        base = [(curve, "#bbbbbb") for curve in shown.get(BASE, [])]
        for panel, (name, found) in zip(panels, shown.items(), strict=True):
            for curve, colour in [*base, *((curve, "#D55E00") for curve in found)]:
                panel.plot(curve[:, 1], curve[:, 2], color=colour, marker=".", markersize=3)
            panel.set_title(name, loc="left")
        figure.supxlabel("minutes of two cores")
        figure.supylabel("held-out return, mean of 50 episodes")
        return figure


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", choices=("run", "show"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--directory", type=Path, default=Path("runs/learning"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--only", nargs="+", choices=VARIANTS, metavar="VARIANT", help="train these")
    options = parser.parse_args()
    if options.minutes <= 0:
        parser.error("--minutes: expected a number above 0")
    {"run": run_all, "show": show}[options.section](options)


if __name__ == "__main__":
    main()
