"""What the flagship's learning needs: each choice changed alone, on several seeds, at equal cost.

python benchmarks/studies/learning.py run [--seeds 3] [--minutes 5] [--directory DIR] [--only VARIANT …]
python benchmarks/studies/learning.py show

`run` trains variants of one config, one seed of all before the next, each until it has cost so many minutes
of two cores; what was interrupted is continued. The clock counts a step of the simulator as a tenth of a
millisecond, which it takes on two cores, and ask and tell as they were measured, so that other work on the
machine does not decide. `show` prints the held-out means and draws them into learning.png.
"""

import argparse
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from mpi_es.curves import Curves, load
from mpi_es.errors import UserError

STEP = 1e-4  # seconds on two cores (benchmarks/car_racing.py ranks)
CHECK = 5  # seconds between looks at a run
BASE = {
    "--cma-variant": "separable",
    "--population-size": "128",
    "--num-rollouts": "2",
    "--episode-seeds": "common",
    "--early-stop": "20",
    "--init-sigma": "0.1",
    "--eval-every": "10",
    "--num-eval-rollouts": "50",
}
VARIANTS: dict[str, dict[str, str]] = {
    "base": {},
    "independent seeds": {"--episode-seeds": "independent"},
    "1 rollout": {"--num-rollouts": "1"},
    "4 rollouts": {"--num-rollouts": "4"},
    "4 rollouts, racing after 2": {"--num-rollouts": "4", "--racing": "2"},
    "popsize 32": {"--population-size": "32"},
    "popsize 64": {"--population-size": "64"},
    "popsize 64, 1 rollout": {"--population-size": "64", "--num-rollouts": "1"},
    "popsize 256": {"--population-size": "256"},
    "sigma 0.05": {"--init-sigma": "0.05"},
    "sigma 0.2": {"--init-sigma": "0.2"},
    "no early stop": {"--early-stop": "0"},
    "full covariance": {"--cma-variant": "full", "--checkpoint-every": "5"},
    "OpenAI-ES": {"--strategy": "openai_es", "--learning-rate": "0.03"},
    "the paper's": {
        "--cma-variant": "full",
        "--population-size": "256",
        "--num-rollouts": "16",
        "--episode-seeds": "independent",
    },
}


def cost(run: Curves) -> np.ndarray:
    """Return the seconds of two cores that a run's training has cost after each generation (n,)."""
    timing = run.content["timing"]
    return np.cumsum(STEP * run.history["steps"] + timing["ask"] + timing["tell"])


def find(directory: Path) -> Curves | None:
    """Return a run, None while it has no generation."""
    try:
        return load(directory)
    except UserError:
        return None


def spent(directory: Path) -> float:
    """Return what a run has cost so far."""
    run = find(directory)
    return float(cost(run)[-1]) if run else 0.0


def train(directory: Path, options: dict[str, str], seed: int, budget: float) -> None:
    """Train until the budget is spent, from where the run is."""
    words = [word for pair in (BASE | options).items() for word in pair]
    new = ["carracing", *words, "--seed", str(seed), "--run-dir", str(directory)]
    start = ["--resume", str(directory)] if find(directory) else new
    command = [Path(sys.prefix, "bin", "mpiexec"), "-n", "2", sys.executable, "-m", "mpi_es.train", *start]
    silent = ["--console", "silent", "--no-tensorboard"]
    with subprocess.Popen([str(word) for word in [*command, *silent]]) as process:
        while process.poll() is None and spent(directory) < budget:
            time.sleep(CHECK)
        process.send_signal(signal.SIGUSR1)
    if process.returncode:
        sys.exit(f"{directory.name}: ended with code {process.returncode}")
    print(f"{directory.name}: {spent(directory):.0f} s", flush=True)


def place(directory: Path, name: str, seed: int) -> Path:
    """Return the directory of a run."""
    return directory / f"{name.replace(' ', '-').replace(',', '').replace(chr(39), '')}-{seed}"


def run_all(options: argparse.Namespace) -> None:
    """Train all variants on all seeds."""
    budget = 60 * options.minutes
    for seed, name in product(range(1, options.seeds + 1), options.only or VARIANTS):
        directory = place(options.directory, name, seed)
        if spent(directory) < budget:
            train(directory, VARIANTS[name], seed, budget)


def held_out(run: Curves, budget: float) -> float:
    """Return the last held-out mean within the budget; without one, that of a car that stands still."""
    costs = cost(run)
    known = [e.returns.mean() for e in run.evaluations if costs[e.generation - 1] <= budget]
    return float(known[-1]) if known else -100.0


def show(options: argparse.Namespace) -> None:
    """Print held-out means at thirds of the budget, and draw all."""
    marks = [60 * options.minutes * share / 3 for share in (1, 2, 3)]
    print(
        "variant | "
        + " | ".join(f"{mark / 60:.1f} min" for mark in marks)
        + " | each run's last | generations"
    )
    shown = {}
    for name in VARIANTS:
        found = [find(place(options.directory, name, seed)) for seed in range(1, options.seeds + 1)]
        runs = [run for run in found if run]
        if not runs:
            continue
        shown[name] = runs
        values = np.array([[held_out(run, mark) for mark in marks] for run in runs])
        medians = " | ".join(f"{median:.0f}" for median in np.median(values, axis=0))
        generations = np.median([np.searchsorted(cost(run), marks[-1]) for run in runs])
        last = " ".join(f"{value:.0f}" for value in sorted(values[:, -1]))
        print(f"{name} | {medians} | {last} | {generations:.0f}")
    if not shown:
        sys.exit(f"expected runs in {options.directory}, got none")
    draw(shown).savefig(options.directory / "learning.png", dpi=120)


def draw(shown: dict[str, list[Curves]]) -> Figure:
    """Return a panel for each variant beside the base: each seed a line."""
    columns = 4
    rows = -(-len(shown) // columns)
    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure((10, 2 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for panel in panels[len(shown) :]:
            panel.set_visible(False)
        for panel, (name, runs) in zip(panels, shown.items(), strict=False):
            lines = [*((run, "#bbbbbb") for run in shown["base"]), *((run, "#D55E00") for run in runs)]
            for run, colour in lines:
                after = np.array([e.generation for e in run.evaluations], int) - 1
                panel.plot(cost(run)[after] / 60, [e.returns.mean() for e in run.evaluations], color=colour)
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
    parser.add_argument("--only", nargs="+", choices=VARIANTS, metavar="VARIANT", help="train these")
    options = parser.parse_args()
    {"run": run_all, "show": show}[options.section](options)


if __name__ == "__main__":
    main()
