"""CyclicMDP: evolution strategies against PPO, as the post on evolution strategies tells it.

python benchmarks/studies/cyclic_mdp.py [--steps 300000] [--seeds 1 2 3]

ES is the preset post-cyclicmdp, PPO is Stable-Baselines3's with its defaults. The score is the return of a
deterministic episode, at most 1333. Curves are added to docs/cyclicmdp.csv, with environment steps as cost,
and are not trained again; a plot is drawn next to it.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import results
from matplotlib.figure import Figure

import mpi_es

RESULTS = Path(__file__).parents[2] / "docs" / "cyclicmdp.csv"
SETTINGS = ("ES", "PPO")
POINTS = 30  # of PPO's curve
LARGEST = 1333  # 1000 steps, of which each third pays 2


def evolve(seed: int, steps: int) -> results.Curve:
    """Return the curve of ES; it ends at its target."""
    with tempfile.TemporaryDirectory() as directory:
        options = [
            "--seed",
            str(seed),
            "--run-dir",
            directory,
            "--eval-every",
            "1",
            "--num-eval-rollouts",
            "1",
        ]
        command = [sys.executable, "-m", "mpi_es.train", "post-cyclicmdp", *options, "--console", "silent"]
        subprocess.run(command, check=True)
        run = mpi_es.load_run(directory)
    cost = np.cumsum(run["history"]["steps"])
    held_out = run["evaluations"]
    generation = held_out["generation"]
    curve = np.column_stack([generation, cost[generation - 1], held_out["returns"][:, 0]])
    kept: results.Curve = curve[curve[:, 1] <= steps]
    return kept if len(kept) else curve[:1]


def learn(seed: int, steps: int) -> results.Curve:
    """Return the curve of PPO."""
    from stable_baselines3 import PPO

    env = gym.make("mpi_es/CyclicMDP-v0")
    model, rows = PPO("MlpPolicy", env, seed=seed, device="cpu"), []
    for point in range(POINTS):
        model.learn(steps // POINTS, reset_num_timesteps=False)
        rows.append((point + 1, model.num_timesteps, score(model)))
    return np.array(rows, float)


def score(model: object) -> float:
    """Return the return of an episode in which the model takes its most likely actions."""
    env = gym.make("mpi_es/CyclicMDP-v0")
    observation, _ = env.reset(seed=0)
    total, over = 0.0, False
    while not over:
        action = model.predict(observation, deterministic=True)[0]  # type: ignore[attr-defined]
        observation, reward, terminated, truncated, _ = env.step(int(action))
        total += float(reward)
        over = terminated or truncated
    return total


def draw(curves: results.Curves) -> None:
    """Draw all curves, and print where each ends."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (setting, seed), curve in sorted(curves.items()):
        colour = {"ES": "tab:blue", "PPO": "tab:orange"}[setting]
        label = setting if seed == min(other for name, other in curves if name == setting) else None
        axes.plot(
            curve[:, 1], curve[:, 2], color=colour, label=label, marker="." if setting == "ES" else None
        )
        print(f"{setting}, seed {seed}: {curve[-1, 2]:.0f} after {curve[-1, 1]:,.0f} steps")
    axes.axhline(LARGEST, color="grey", linestyle=":", label="the largest return")
    axes.set(xlabel="environment steps", ylabel="return of an episode", title="CyclicMDP", xscale="log")
    axes.legend()
    figure.savefig(RESULTS.with_suffix(".png"), dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    train = {"ES": evolve, "PPO": learn}
    for setting, seed in results.missing(RESULTS, SETTINGS, options.seeds):
        results.add(RESULTS, setting, seed, train[setting](seed, options.steps))
    draw(results.done(RESULTS))


if __name__ == "__main__":
    main()
