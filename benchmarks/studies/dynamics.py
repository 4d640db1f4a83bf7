"""Do envpool's environments behave as gymnasium's? The same policies play both; their returns are compared.

python benchmarks/studies/dynamics.py [ENVIRONMENT …] [--policies 20] [--episodes 20] [--cap 300]

envpool draws other beginnings than gymnasium does from a seed, so that episodes cannot be compared one by
one. Random linear policies play --episodes each in both, all with their first --cap steps. The table shows
the mean return and length, and the difference of the returns with its 95 % interval over policies.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from mpi_es import envs
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules, Results
from mpi_es.evaluation.sources import StaticSource
from mpi_es.policies.mlp import MLP
from mpi_es.policies.options import MLPOptions
from mpi_es.run_file.scores import half_interval

ENVIRONMENTS = (
    *("CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCarContinuous-v0"),
    *("LunarLander-v3", "BipedalWalker-v3", "BipedalWalkerHardcore-v3"),
    *("HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Swimmer-v5", "Reacher-v5", "Humanoid-v5"),
)


def play(name: str, policies: int, episodes: int, cap: int) -> Results:
    """Return the rows of all episodes, policy by policy."""
    batch = envs.open_batch(name)
    policy = MLP(MLPOptions(hidden=()), batch.observation_space, batch.action_space)
    rng = np.random.default_rng(0)
    candidates = rng.standard_normal((policies, policy.dim), np.float32)
    count = policies * episodes
    seeds = rng.integers(2**31, size=count).tolist()
    played = [Episode(i, i // episodes, seed, candidates[i // episodes]) for i, seed in enumerate(seeds)]
    rows = EnvRollout(policy, batch, 64).run(StaticSource(played), EpisodeRules(cap))
    batch.close()
    return rows[np.argsort(rows[:, 0])]


def compared(theirs: NDArray[np.float64], ours: NDArray[np.float64]) -> str:
    """Return the difference of the means over policies, with its interval."""
    differences = ours.mean(axis=1) - theirs.mean(axis=1)
    half = half_interval(differences)
    return f"{differences.mean():+.2f} [{differences.mean() - half:+.2f}, {differences.mean() + half:+.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("environments", nargs="*", default=ENVIRONMENTS)
    parser.add_argument("--policies", type=int, default=20)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--cap", type=int, default=300)
    options = parser.parse_args()
    sizes = (options.policies, options.episodes)
    print("| environment | gymnasium: return, length | envpool: return, length | difference, 95 % |")
    print("| --- | --- | --- | --- |")
    for name in options.environments:
        both = [play(full, *sizes, options.cap) for full in (name, f"envpool:{name}")]
        cells = [f"{rows[:, 1].mean():.2f}, {rows[:, 2].mean():.1f}" for rows in both]
        returns = [rows[:, 1].reshape(sizes) for rows in both]
        print(f"| {name} | {cells[0]} | {cells[1]} | {compared(*returns)} |", flush=True)


if __name__ == "__main__":
    main()
