"""CyclicMDP: evolution strategies against PPO, as the post on evolution strategies tells it.

python benchmarks/studies/cyclic_mdp.py [--steps 300000] [--seeds 1 2 3]

ES is the preset post-cyclicmdp, PPO is Stable-Baselines3's with its defaults. The score is the mean return of
the episodes of a generation, or of those that ended in a rollout: at most 1333, where all actions are right.
Curves are added to docs/cyclicmdp.csv, with environment steps as cost, and are not trained again; a plot is
drawn next to it. For both, the program prints after how many steps the policy without noise had the largest
return.
"""

import argparse
import tempfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import results
import trainings
from matplotlib.figure import Figure

import mpi_es  # noqa: F401 (registers CyclicMDP)

RESULTS = Path(__file__).parents[2] / "docs" / "cyclicmdp.csv"
SETTINGS = ("ES", "PPO")
LARGEST = 1333  # 1000 steps, of which each third pays 2


def evolve(seed: int, steps: int) -> results.Curve:
    """Return the population's means of ES."""
    words = ["post-cyclicmdp", "--seed", seed, "--target-fitness", "None"]
    words += ["--eval-every", 1, "--num-eval-rollouts", 1]
    with tempfile.TemporaryDirectory() as directory:
        run = trainings.train(Path(directory, "run"), words, trainings.steps, steps)
    cost, returns = run.axes["steps"][1:], [evaluation.returns.mean() for evaluation in run.evaluations]
    best = int(np.argmax(returns))
    tell("ES", seed, int(cost[best]), returns[best])
    return np.column_stack([run.history["generation"], cost, run.history["mean"]])


def learn(seed: int, steps: int) -> results.Curve:
    """Return the means of PPO's episodes."""
    from stable_baselines3 import PPO

    env = gym.make("mpi_es/CyclicMDP-v0")
    model, best = PPO("MlpPolicy", env, seed=seed, device="cpu"), -np.inf
    rows: list[tuple[int, int, float]] = []
    while model.num_timesteps < steps:
        if model.ep_info_buffer:
            model.ep_info_buffer.clear()  # it holds the last hundred episodes
        model.learn(model.n_steps, reset_num_timesteps=False)
        returns = [episode["r"] for episode in model.ep_info_buffer or ()]
        rows.append((len(rows) + 1, model.num_timesteps, float(np.mean(returns))))
        if best < LARGEST:
            best = score(model)
            if best == LARGEST:
                tell("PPO", seed, model.num_timesteps, best)
    return np.array(rows, float)


def tell(setting: str, seed: int, steps: int, best: float) -> None:
    """Print when the policy without noise was best."""
    print(f"{setting}, seed {seed}: without noise {best:.0f} after {steps:,} steps", flush=True)


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
        axes.plot(curve[:, 1], curve[:, 2], color=colour, label=label, marker=".")
        print(f"{setting}, seed {seed}: {curve[-1, 2]:.0f} after {curve[-1, 1]:,.0f} steps")
    axes.axhline(LARGEST, color="grey", linestyle=":", label="the largest return")
    axes.set(xlabel="environment steps", ylabel="mean return, with noise", title="CyclicMDP", xscale="log")
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
