"""What dispatch costs: episodes that only sleep, 32 ranks, both dispatch modes side by side.

python benchmarks/dispatch.py [--ranks 32] [--repeats 5]

Durations are lognormal (heavy-tailed) with a mean of 50 ms; a sleeping rank costs no CPU, so 32 ranks fit on
two cores. The ideal is the sum of all durations over the number of ranks. "lower bound" is what no schedule
can beat: the ideal, or the longest episode where that is longer. "alike" is the share of the variance (of the
logarithm) that a candidate's episodes have in common: in most environments one that survives does so in all
its episodes. At 0 nothing can be known beforehand.
"""

import argparse
import itertools
import json
import time
from typing import Any

import gymnasium as gym
import launching
import numpy as np

from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.evaluation.env_rollout import Rollout
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.seeds import Stream, rng
from mpi_es.strategies.base import Dense
from mpi_es.strategies.noise import ComputedNoise

POPSIZE, ROLLOUTS = 256, 16
MEAN, SPREAD = 0.05, 1.0  # seconds; the longest of 256 lasts about ten times the mean
STEP = 0.005  # an environment step, as in a slow simulator: rank 0 answers requests between two


def duration(seed: int, alike: float) -> float:
    """Return how long the episode of a seed takes, the seeds of a candidate being ROLLOUTS in a row."""
    candidate = rng(seed // ROLLOUTS, Stream.EPISODE, 0).standard_normal()
    episode = rng(seed, Stream.EPISODE, 1).standard_normal()
    draw = np.sqrt(alike) * candidate + np.sqrt(1 - alike) * episode
    return MEAN * float(np.exp(SPREAD * draw - SPREAD**2 / 2))


class Sleeper(gym.Env):
    """An episode that sleeps as long as its seed says."""

    alike = 0.0
    observation_space = gym.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        """Look up how long this episode is."""
        self.begin, self.end = time.perf_counter(), duration(seed, Sleeper.alike)
        self.slept = 0.0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        """Sleep for one step, or what is left; oversleeping is made up for by the next."""
        self.slept = min(self.slept + STEP, self.end)
        time.sleep(max(0.0, self.slept - (time.perf_counter() - self.begin)))
        return np.zeros(1, np.float32), 1.0, self.slept >= self.end, False, {}


class Nothing:
    """A policy that costs nothing."""

    dim = 3667  # the attention agent's, which travel all the same

    def initial_memory(self, k):
        """Return no memory."""

    def start(self, episode_seed, candidate):
        """Return no memory."""

    def unpack(self, parameters):
        """Return nothing."""

    def act(self, weights, observations, memory):
        """Return the action 0."""
        return np.zeros(len(observations), np.int64), None


def idle_policy() -> Any:
    """Return the policy, which has of a Policy what a rollout calls."""
    return Nothing()


def worker(repeats: int) -> None:
    """Evaluate on all ranks; rank 0 prints one line of JSON for each setting and repeat."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rollout = Rollout(idle_policy(), SeparateEnvs(lambda: (Sleeper(), 0)), 1)
    modes = ((False, False), (True, False), (True, True))  # dynamic, rank 0 only directs
    tasks = ((1, 0.0), (ROLLOUTS, 0.0), (ROLLOUTS, 0.5))  # rollouts, alike
    for (rollouts, alike), (dynamic, dedicated) in list(itertools.product(tasks, modes)) * repeats:
        evaluator = Evaluator(
            comm, rollout, ComputedNoise(0, Nothing.dim), dynamic=dynamic, dedicated_root=dedicated
        )
        Sleeper.alike = alike
        if comm.rank:
            evaluator.loop.serve()
            continue
        seeds = np.arange(POPSIZE * ROLLOUTS).reshape(POPSIZE, ROLLOUTS)[:, :rollouts]
        population = Dense(np.zeros((POPSIZE, Nothing.dim)))
        evaluator.evaluate(population, seeds[:, :1], EpisodeRules())  # warm up
        begin = time.perf_counter()
        evaluator.evaluate(population, seeds, EpisodeRules())
        seconds = time.perf_counter() - begin
        evaluator.loop.stop()
        durations = [duration(int(seed), alike) for seed in seeds.ravel()]
        record = {"rollouts": rollouts, "alike": alike, "dynamic": dynamic, "dedicated": dedicated}
        record |= {"ideal": sum(durations) / comm.size, "longest": max(durations), "seconds": seconds}
        print(json.dumps(record), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        worker(options.repeats)
        return
    records = launching.records(options.ranks, __file__, "--worker", "--repeats", options.repeats)
    print(f"{options.ranks} ranks, population {POPSIZE}, medians of {options.repeats} runs")
    print("rollouts  alike  dispatch  rank 0       seconds   ideal  lower bound  seconds/ideal (all runs)")
    columns = ("rollouts", "alike", "dedicated", "dynamic")
    for key in sorted({tuple(r[column] for column in columns) for r in records}):
        rollouts, alike, dedicated, dynamic = key
        mine = [r for r in records if tuple(r[column] for column in columns) == key]
        ratios = sorted(r["seconds"] / r["ideal"] for r in mine)
        seconds, ideal = np.median([r["seconds"] for r in mine]), mine[0]["ideal"]
        print(
            f"{rollouts:8d}  {alike:5.1f}  {'dynamic' if dynamic else 'static':8s}"
            f"  {'directs' if dedicated else 'evaluates':9s}"
            f"  {seconds:9.3f} {ideal:7.3f} {max(ideal, mine[0]['longest']):12.3f}"
            f"  {np.median(ratios):.3f} ({' '.join(f'{ratio:.3f}' for ratio in ratios)})"
        )


if __name__ == "__main__":
    main()
