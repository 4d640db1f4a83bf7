"""LunarLander: populations of eight under PBT, eight PPO alone, and one PPO, at equal total steps.

    nohup nice -n 19 python benchmarks/pbt_lunarlander.py runs/lunarlander > lunarlander.log &

It takes about four hours on two free cores, and goes on where it was when it is started again;
runs that are done cost nothing. It prints held-out means of 100 episodes and draws DIRECTORY/lunarlander.png.

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
EVALUATIONS = 8  # over a run: the curves' points


def generations(setting, scale):
    return scale * MEMBERS if setting.startswith("one ") else scale


def directory(root, setting, seed):
    return root / f"{re.sub('[^A-Za-z0-9]+', '-', setting)}-{seed}"


def done(path, wanted):
    if not (path / checkpoint.NAME).exists():
        return False
    return checkpoint.load(path)[0]["progress"]["generation"] >= wanted


def train(root, setting, seed, scale, ranks):
    """Begin the run, or continue it, unless it is done."""
    path, wanted = directory(root, setting, seed), generations(setting, scale)
    if done(path, wanted):
        return
    if (path / checkpoint.NAME).exists():
        words = ["--resume", path]
    else:
        every = max(1, wanted // EVALUATIONS)
        words = [*SETTINGS[setting], "--seed", seed, "--run-dir", path, "--eval-every", every]
    launcher = [Path(sys.prefix, "bin", "mpiexec"), "-n", ranks] if ranks > 1 else []
    command = [*launcher, sys.executable, "-m", "pbt.train", *words, "--max-iter", wanted]
    print(*command[-len(words) - 4 :], flush=True)
    quiet = ["--console", "lines"]
    with (root / f"{path.name}.log").open("a") as log:
        subprocess.run([str(word) for word in command + quiet], stdout=log, stderr=log, check=True)


def curve(root, setting, seed, scale):
    """Return millions of steps and held-out means of the best member, (points,) each."""
    stored = checkpoint.load(directory(root, setting, seed))[0]
    steps = stored["evaluations"]["generation"] * STEPS * MEMBERS * scale / generations(setting, scale)
    return steps / 1e6, np.nanmean(stored["evaluations"]["returns"], axis=1)


def table(root, seeds, scale):
    total = MEMBERS * scale * STEPS / 1e6
    print(f"| {total:.1f} million steps in all | {' | '.join(f'seed {seed}' for seed in seeds)} | mean |")
    print("| --- |" + " --- |" * (len(seeds) + 1))
    for setting in SETTINGS:
        means = [curve(root, setting, seed, scale)[1][-1] for seed in seeds]
        print(f"| {setting} | {' | '.join(f'{mean:.0f}' for mean in means)} | {np.mean(means):.0f} |")


def draw(root, seeds, scale):
    figure = Figure(figsize=(7, 4), layout="constrained")
    panel = figure.subplots()
    for setting in SETTINGS:
        curves = [curve(root, setting, seed, scale) for seed in seeds]
        (line,) = panel.plot(curves[0][0], np.median([means for _, means in curves], axis=0), label=setting)
        low, high = (edge([means for _, means in curves], axis=0) for edge in (np.min, np.max))
        panel.fill_between(curves[0][0], low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    panel.axhline(200, color="grey", linewidth=0.5)  # solved
    panel.set(xlabel="steps of all members, millions", ylabel="held-out return of the best member")
    panel.legend(frameon=False)
    figure.savefig(root / "lunarlander.png", dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seeds", nargs="+", type=int, default=(1, 2, 3))
    parser.add_argument("--generations", type=int, default=GENERATIONS, help="of the populations")
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    root, seeds, scale = options.directory, options.seeds, options.generations
    root.mkdir(parents=True, exist_ok=True)
    *populations, alone = SETTINGS
    for seed in seeds:
        for setting in populations:
            train(root, setting, seed, scale, options.cores)
    with ThreadPoolExecutor(options.cores) as threads:  # one rank each
        list(threads.map(lambda seed: train(root, alone, seed, scale, 1), seeds))
    table(root, seeds, scale)
    draw(root, seeds, scale)


if __name__ == "__main__":
    main()
