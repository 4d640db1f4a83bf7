"""LunarLander: populations of eight under PBT, eight PPO alone, and one PPO, at equal total steps.

nohup nice -n 19 python benchmarks/studies/lunarlander.py runs/lunarlander > lunarlander.log &

It takes about two and a half hours on two free cores, and goes on where it was when it is started again. The
curves of runs that are done are kept in DIRECTORY/lunarlander.csv; the runs may go then. It prints held-out
means of 100 episodes and draws DIRECTORY/lunarlander.png.

All see the same number of steps in all: eight members in 12 generations of 24,576, or one in 96. The eight
begin with the preset's PPO and hyperparameters drawn from its ranges; the one has the defaults of SB3. The
member is evaluated that scored best in the last generation, on 100 other episodes.
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import results
from matplotlib.figure import Figure

from mpi_es import checkpoint

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
EVALUATIONS = 8  # over a run, or a few more: the curves' points


def members(setting: str) -> int:
    """Return how many agents train side by side."""
    return 1 if SETTINGS[setting] is ALONE else MEMBERS


def train(root: Path, setting: str, seed: int, scale: int, ranks: int) -> results.Curve:
    """Begin a run, or continue it, to its end; return its curve, the cost in millions of steps."""
    path = root / f"{re.sub('[^A-Za-z0-9]+', '-', setting)}-{seed}"
    wanted = scale * MEMBERS // members(setting)
    if (path / checkpoint.NAME).exists():
        words = ["--resume", path]
    else:
        every = max(1, wanted // EVALUATIONS)
        words = [*SETTINGS[setting], "--seed", seed, "--run-dir", path, "--eval-every", every]
    launcher = [Path(sys.prefix, "bin", "mpiexec"), "-n", ranks] if ranks > 1 else []
    command = [*launcher, sys.executable, "-m", "pbt.train", *words, "--max-iter", wanted]
    print(f"{setting}, seed {seed}", flush=True)
    with (root / f"{path.name}.log").open("a") as log:
        subprocess.run(
            [str(word) for word in (*command, "--console", "lines")], stdout=log, stderr=log, check=True
        )
    held_out = checkpoint.load(path)[0]["evaluations"]
    steps = held_out["generation"] * STEPS * members(setting) / 1e6
    means = np.nanmean(held_out["returns"], axis=1)
    return np.column_stack([held_out["generation"], steps, means])


def table(curves: results.Curves) -> None:
    """Print the last held-out mean of each run."""
    seeds = sorted({seed for _, seed in curves})
    print(f"| | {' | '.join(f'seed {seed}' for seed in seeds)} | mean |")
    print("| --- |" + " --- |" * (len(seeds) + 1))
    for setting in SETTINGS:
        means = [curve[-1, 2] for curve in results.of_setting(curves, setting)]
        print(f"| {setting} | {' | '.join(f'{mean:.0f}' for mean in means)} | {np.mean(means):.0f} |")


def draw(curves: results.Curves) -> Figure:
    """Draw each setting's median over the seeds, between lowest and highest."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    panel = figure.subplots()
    for setting in SETTINGS:
        found = results.of_setting(curves, setting)
        millions, means = found[0][:, 1], [curve[:, 2] for curve in found]
        (line,) = panel.plot(millions, np.median(means, axis=0), label=setting)
        low, high = np.min(means, axis=0), np.max(means, axis=0)
        panel.fill_between(millions, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    panel.axhline(200, color="grey", linewidth=0.5)  # solved
    panel.set(xlabel="steps of all members, millions", ylabel="held-out return of the best member")
    panel.legend(frameon=False)
    return figure


def main() -> None:
    """Train what is not done yet, and show all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seeds", nargs="+", type=int, default=(1, 2, 3))
    parser.add_argument("--generations", type=int, default=GENERATIONS, help="of the populations")
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    root, scale = options.directory, options.generations
    root.mkdir(parents=True, exist_ok=True)
    stored = root / "lunarlander.csv"
    done = results.read(stored)
    *populations, alone = SETTINGS
    for seed in options.seeds:
        for setting in populations:
            if (setting, seed) not in done:
                results.add(stored, setting, seed, train(root, setting, seed, scale, options.cores))
    missing = [seed for seed in options.seeds if (alone, seed) not in done]
    with ThreadPoolExecutor(options.cores) as threads:  # one rank each
        curves = threads.map(lambda seed: train(root, alone, seed, scale, 1), missing)
        for seed, curve in zip(missing, curves, strict=True):
            results.add(stored, alone, seed, curve)
    done = results.read(stored)
    table(done)
    draw(done).savefig(root / "lunarlander.png", dpi=120)


if __name__ == "__main__":
    main()
