"""How far an hour of one core brings the presets of MuJoCo, Atari and Doom.

nohup python benchmarks/studies/hours.py run [PRESET …] [--cores 2] > hours.log &
python benchmarks/studies/hours.py show

`run` trains each preset, with seed 1 and one on each core, until its target or --minutes; what was
interrupted is continued. The curves of what is done are added to docs/environments/hours.csv, or to
--results, and not trained again. `show` prints where they end and draws them beside the csv. Minutes are
those of the generations, held-out episodes included, so nothing else should be at work.
"""

import argparse
from functools import partial
from pathlib import Path

import matplotlib as mpl
import results
import trainings
from matplotlib.figure import Figure

from mpi_es.config.presets import preset
from mpi_es.reports.curves import Curves

RESULTS = Path(__file__).parents[2] / "docs" / "environments" / "hours.csv"
NAMES = ("halfcheetah", "hopper", "walker2d", "ant", "pong", "spaceinvaders", "takecover-fast", "hardcore")
SEED = 1


def minutes(run: Curves) -> float:
    """Return what a run has cost so far."""
    return float(run.axes["seconds"][-1] / 60)


def train(root: Path, budget: float, name: str) -> results.Curve:
    """Train a preset until its target or the budget; print its speed and return its curve."""
    directory = results.directory_of(root, name, SEED)
    run = trainings.train(directory, [name, "--seed", SEED], minutes, budget)
    print(f"{name}: {trainings.steps(run) / run.axes['seconds'][-1]:,.0f} steps a second", flush=True)
    return trainings.held_out(run, run.axes["seconds"] / 60)


def run_all(options: argparse.Namespace) -> None:
    """Train those presets that the results do not know, one on each core."""
    missing = results.missing(options.results, options.presets, [SEED])
    new = {key: partial(train, options.directory, options.minutes, key[0]) for key in missing}
    results.train_all(options.results, options.cores, new)


def show(options: argparse.Namespace) -> None:
    """Print each preset's last and best held-out mean, and draw all."""
    curves = {name: curve for (name, _), curve in results.done(options.results).items()}
    print("| preset | target | minutes | generations | best held-out mean | last |\n" + "| --- " * 6 + "|")
    for name, curve in curves.items():
        generation, spent, last = curve[-1]
        scores = f"{curve[:, 2].max():,.0f} | {last:,.0f}"
        print(f"| `{name}` | {preset(name).target_fitness:g} | {spent:.1f} | {generation:.0f} | {scores} |")
    draw(curves).savefig(options.results.with_suffix(".png"), dpi=120)


def draw(curves: dict[str, results.Curve]) -> Figure:
    """Return a panel for each preset: held-out means over minutes, and the target."""
    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure, panels = results.grid(len(curves), height=2.2)
        for panel, (name, curve) in zip(panels, curves.items(), strict=True):
            panel.axhline(preset(name).target_fitness, color="#bbbbbb", linewidth=0.8)
            panel.plot(curve[:, 1], curve[:, 2], color="#D55E00", marker=".", markersize=3, linewidth=1)
            panel.set_title(name, loc="left")
        figure.supxlabel("minutes of a core")
        figure.supylabel("held-out return, mean")
        return figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", choices=("run", "show"))
    parser.add_argument("presets", nargs="*", default=list(NAMES))
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--directory", type=Path, default=Path("runs/hours"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    {"run": run_all, "show": show}[options.section](options)


if __name__ == "__main__":
    main()
