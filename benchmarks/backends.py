"""Environment steps per second on one core: our rollout with gymnasium and envpool, and EvoTorch's problems.

python benchmarks/backends.py [ENVIRONMENT …] [--episodes 256] [--cap 200] [--repeats 5] [--core 0]

An MLP 64-64 with tanh. All loops evaluate the same candidates, one loop after the other in one process that
is pinned to one core and has one thread, and again in every repeat; the table shows medians. Seconds are of
the process's own CPU time, so that other work on the core does not count. Episodes are cut after --cap
steps, so that no loop plays many more than another: envpool and VecGymNE draw other beginnings.

    GymNE        evotorch.neuroevolution.GymNE: an environment at a time, a call of the module for each step
    VecGymNE     evotorch.neuroevolution.VecGymNE: gymnasium's vector environments, all networks in one call
    gymnasium    mpi_es with gymnasium's environments, 16 in lockstep
    envpool, w   mpi_es with envpool's, w in lockstep; 64 is the default
"""

import argparse
import logging
import os
import time
from dataclasses import replace

import gymnasium as gym
import numpy as np
import torch
from rollout import Loop, Outcome, Work, gymne, make_work, ours
from threadpoolctl import threadpool_limits

from mpi_es.evaluation.rollout import Terms

ENVIRONMENTS = ("CartPole-v1", "LunarLander-v3", "BipedalWalker-v3", "HalfCheetah-v5")
POOL_WIDTHS = (16, 64, 256)


def vecgymne(work: Work, cap: int) -> Loop:
    """Return EvoTorch's evaluation in vector environments, one for each solution."""
    from evotorch import SolutionBatch
    from evotorch.neuroevolution import VecGymNE

    options = {"max_episode_steps": cap}
    problem = VecGymNE(f"gym::{work.env_id}", work.policy.module, env_config=options, num_actors=None)
    values = torch.from_numpy(work.candidates)

    def run() -> Outcome:
        before = int(problem.status.get("total_interaction_count") or 0)
        batch = SolutionBatch(problem, len(values), empty=True)
        batch.set_values(values)
        problem.evaluate(batch)
        steps = int(problem.status["total_interaction_count"]) - before
        return steps, batch.evals[:, 0].numpy().astype(np.float64)

    return run


def make_loops(work: Work, cap: int) -> dict[str, Loop]:
    """Return the loops by name, EvoTorch's first."""
    capped, pooled = Terms(cap), replace(work, env_id=f"envpool:{work.env_id}")
    loops = {
        "GymNE": gymne(work, lambda env: gym.wrappers.TimeLimit(env, cap)),
        "VecGymNE": vecgymne(work, cap),
        "gymnasium": ours(work, 16, capped),
    }
    return loops | {f"envpool, {width}": ours(pooled, width, capped) for width in POOL_WIDTHS}


def benchmark(env_id: str, episodes: int, cap: int, repeats: int) -> None:
    """Print the table of an environment."""
    loops = make_loops(make_work(env_id, episodes), cap)
    for loop in loops.values():
        loop()  # warms up
    speeds: dict[str, list[float]] = {name: [] for name in loops}
    lengths = {}
    for _ in range(repeats):
        for name, loop in loops.items():
            begin = time.process_time()
            steps, _ = loop()
            speeds[name].append(steps / (time.process_time() - begin))
            lengths[name] = steps / episodes
    print(f"\n{env_id}: {episodes} episodes of at most {cap} steps, {repeats} repeats")
    print("loop             steps/s  times GymNE (all repeats)    steps an episode")
    for name, mine in speeds.items():
        ratios = [a / b for a, b in zip(mine, speeds["GymNE"], strict=True)]
        spread = f"{np.median(ratios):5.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
        print(f"{name:12s} {np.median(mine):11,.0f}  {spread:27s}  {lengths[name]:.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("environments", nargs="*", default=ENVIRONMENTS)
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--cap", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})
    torch.set_num_threads(1)
    logging.disable(logging.INFO)  # EvoTorch tells what it does
    with threadpool_limits(1):
        for env_id in options.environments:
            benchmark(env_id, options.episodes, options.cap, options.repeats)


if __name__ == "__main__":
    main()
