"""How well a few episodes rank candidates around the mean of a run of CarRacing.

mpiexec -n 2 python benchmarks/studies/noise.py RUN [--sigma 0.05] [--candidates 128] [--episodes 16]
                                                    [--steps 0] [--part controller.fc.bias]

Every candidate drives the same tracks, --steps of each if it is not 0. It prints how their scores spread
around that of the mean, and how much of their order remains where the same tracks are driven whole. A return
is the track's, plus the candidate's, plus what this track makes of this candidate; their standard deviations
say how well the mean of k episodes ranks the candidates, on tracks common to all and on tracks of their own.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from mpi_es.agents.load import Agent, load
from mpi_es.config.presets import preset
from mpi_es.errors import expected, unknown
from mpi_es.evaluation.build import make_evaluator, make_policy, training_terms
from mpi_es.parallel.agreement import on_root
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.program import launch
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.strategies.base import Dense

FIRST_TRACK = 500_000
SHARES = (0, 5, 25, 50, 75, 95, 100)  # % of the candidates that score less


def main(comm: Comm, arguments: list[str]) -> int:
    """Play the episodes, and print on rank 0 what they say. Collective."""
    options, agent, part = on_root(comm, lambda: prepare(arguments))
    config = agent.config
    evaluator = make_evaluator(comm, config, StopFlag())
    rows = np.tile(agent.parameters, (options.candidates + 1, 1))
    disturbed = rows[:-1, part]
    disturbed += options.sigma * np.random.default_rng(0).standard_normal(disturbed.shape)
    tracks = np.tile(FIRST_TRACK + np.arange(options.episodes), (len(rows), 1))

    def report() -> None:
        def played(cap: int) -> NDArray[np.float64]:
            return evaluator.evaluate(Dense(rows), tracks, training_terms(config, cap, None)).returns

        cut = played(options.steps or config.episode_cap)
        returns, of_mean = cut[:-1], cut[-1]
        spread = ", ".join(f"{value:.0f}" for value in np.percentile(returns.mean(axis=1), SHARES))
        print(f"mean {of_mean.mean():.0f}, population {returns.mean():.0f}, its {SHARES} %: {spread}")
        if options.steps:
            whole = played(config.episode_cap)[:-1]
            kept = rank_correlation(returns.mean(axis=1), whole.mean(axis=1))
            print(f"rank correlation with whole episodes: {kept:.2f}")
        tell_apart(returns)

    evaluator.loop.run_on_root(report)
    return 0


def prepare(arguments: list[str]) -> tuple[argparse.Namespace, Agent, slice]:
    """Return the options, and the agent and where its part lies that they name."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run")
    parser.add_argument("--sigma", type=float, default=0.05)
    parser.add_argument("--candidates", type=int, default=128)
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--steps", type=int, default=0, help="of an episode")
    parser.add_argument("--part", default="", help="the only one with noise, with the names of --evolve")
    options = parser.parse_args(arguments)
    if min(options.candidates, options.episodes) < 2:
        parser.error("--candidates, --episodes: expected 2 or more, as it tells how they differ")
    agent = load(options.run, preset("carracing-fast"), "run")
    if agent.config.policy.name != "attention":
        raise expected("run", "an attention agent that drives", agent.config.policy.name)
    parts = make_policy(agent.config).parts
    if options.part and options.part not in parts:
        raise unknown("--part", options.part, parts)
    return options, agent, parts.get(options.part, slice(None))


def rank_correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return Spearman's correlation of values without ties."""
    first, second = (np.argsort(np.argsort(values)) for values in (one, other))
    return float(np.corrcoef(first, second)[0, 1])


def tell_apart(returns: NDArray[np.float64]) -> None:
    """Print what the returns (candidates, episodes) vary with, and how few episodes correlate with all."""
    n, k = returns.shape
    centred = returns - returns.mean(axis=0)
    of_both = (centred - centred.mean(axis=1, keepdims=True)).var() * n / (n - 1) * k / (k - 1)
    of_candidates = max(centred.mean(axis=1).var(ddof=1) - of_both / k, 0)
    of_tracks = max(returns.mean(axis=0).var(ddof=1) - of_both / n, 0)
    deviations = " | ".join(f"{variance**0.5:.0f}" for variance in (of_candidates, of_tracks, of_both))
    print(f"deviation of candidates | tracks | both together: {deviations}")
    print("episodes | correlation, common tracks | own tracks")
    for count in (1, 2, 4, 8, 16):
        noises = of_both / count, (of_both + of_tracks) / count
        rows = [(of_candidates / (of_candidates + noise)) ** 0.5 for noise in noises]
        print(f"{count} | {rows[0]:.2f} | {rows[1]:.2f}")


if __name__ == "__main__":
    launch(main)
