"""LunarLander: populations of eight under PBT, eight PPO alone, and one PPO, at equal total steps.

nohup nice -n 19 python benchmarks/studies/lunarlander.py [--directory DIR] > lunarlander.log &

It takes about four hours on two free cores, and goes on where it was when it is started again. The curves of
what is done are added to docs/pbt/lunarlander.csv, or to --results, and not trained again. At its end it
prints held-out means of 100 episodes and draws them beside it; --show does that with what is there.

All see the same number of steps in all: eight members in 12 generations of 24,576, or one in 96. The eight
begin with the preset's PPO and hyperparameters drawn from its ranges; the one has the defaults of SB3. The
member is evaluated that scored best in the last generation, on 100 other episodes.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import populations
import results
from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "docs" / "pbt" / "lunarlander.csv"
MEMBERS, GENERATIONS, STEPS = 8, 12, 24576
POPULATION = ["lunarlander", "--num-agents", str(MEMBERS)]
# What SB3 calls default: its rate, one environment, nothing tuned and so nothing drawn.
ALONE = ["--member", "sb3", "--env", "LunarLander-v3", "--num-agents", "1", "--baseline"]
ALONE += ["--tune", "learning_rate=3e-4:3e-4", "--steps", str(STEPS)]
SETTINGS = {
    "PBT, truncation": POPULATION,
    "PBT, winner takes all": [*POPULATION, "--selection", "winner-takes-all"],
    "eight PPO alone": [*POPULATION, "--baseline"],
    "one PPO, SB3's defaults": ALONE,
}
SOLVED = 200  # by gymnasium's documentation
EVALUATIONS = 8  # over a run, or a few more: the curves' points


def members(setting: str) -> int:
    """Return how many agents train side by side."""
    return 1 if SETTINGS[setting] is ALONE else MEMBERS


def train(root: Path, setting: str, seed: int, scale: int, ranks: int) -> results.Curve:
    """Train a run to its end; return its curve, the cost in millions of steps."""
    wanted = scale * MEMBERS // members(setting)
    words = [*SETTINGS[setting], "--seed", seed, "--eval-every", max(1, wanted // EVALUATIONS)]
    done = populations.train(results.directory_of(root, setting, seed), words, wanted, ranks)
    held_out = done["evaluations"]
    steps = held_out["generation"] * STEPS * members(setting) / 1e6
    means = np.nanmean(held_out["returns"], axis=1)
    return np.column_stack([held_out["generation"], steps, means])


def table(curves: results.Curves) -> None:
    """Print each run's last held-out mean, and the steps until it was that of a solved task."""
    seeds = sorted({seed for _, seed in curves})
    titles = [f"seed {seed}" for seed in seeds]
    print(f"| | {' | '.join(titles)} | mean | million steps to {SOLVED} |")
    print("| --- |" + " --- |" * (len(seeds) + 2))
    for setting, found in results.by_setting(curves, SETTINGS).items():
        runs = [curves.get((setting, seed)) for seed in seeds]
        last = ["–" if run is None else f"{run[-1, 2]:.0f}" for run in runs]
        until = ["–" if run is None else solved(run) for run in runs]
        mean = np.mean([run[-1, 2] for run in found])
        print(f"| {setting} | {' | '.join(last)} | {mean:.0f} | {', '.join(until)} |")


def solved(curve: results.Curve) -> str:
    """Return the million steps after which a held-out mean was first that of a solved task."""
    after = curve[curve[:, 2] >= SOLVED, 1]
    return f"{after[0]:.1f}" if len(after) else "never"


def draw(curves: results.Curves) -> Figure:
    """Draw each setting's median over the seeds, between lowest and highest."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    panel = figure.subplots()
    for setting, found in results.by_setting(curves, SETTINGS).items():
        millions, means = found[0][:, 1], [curve[:, 2] for curve in found]
        (line,) = panel.plot(millions, np.median(means, axis=0), label=setting)
        low, high = np.min(means, axis=0), np.max(means, axis=0)
        panel.fill_between(millions, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    panel.axhline(SOLVED, color="grey", linewidth=0.5)
    panel.set(xlabel="steps of all members, millions", ylabel="held-out return of the best member")
    panel.legend(frameon=False)
    return figure


def show(path: Path) -> None:
    """Print and draw what is done."""
    curves = results.done(path)
    table(curves)
    draw(curves).savefig(path.with_suffix(".png"), dpi=120)


def main() -> None:
    """Train what is not done yet, and show all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", nargs="+", type=int, default=(1, 2, 3))
    parser.add_argument("--generations", type=int, default=GENERATIONS, help="of the populations")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--directory", type=Path, default=Path("runs/lunarlander"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="train nothing")
    options = parser.parse_args()
    if not options.show:
        train_all(options)
    show(options.results)


def train_all(options: argparse.Namespace) -> None:
    """Train all settings on all seeds, but those that the results know."""
    root, scale, stored = options.directory, options.generations, options.results
    *populated, alone = SETTINGS
    for setting, seed in results.missing(stored, populated, options.seeds):
        results.add(stored, setting, seed, train(root, setting, seed, scale, options.cores))
    missing = results.missing(stored, [alone], options.seeds)
    on_one_rank = {key: partial(train, root, alone, key[1], scale, 1) for key in missing}
    results.train_all(stored, options.cores, on_one_rank)


if __name__ == "__main__":
    main()
