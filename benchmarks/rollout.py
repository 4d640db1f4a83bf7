"""Environment steps per second on one core: our rollout beside a torch module per step and EvoTorch's GymNE.

python benchmarks/rollout.py [--episodes 64] [--repeats 5] [--core 0]

An MLP 64-64 with tanh and argmax. All loops run the same candidates on the same episode seeds, one loop
after the other in one process that is pinned to one core and has one thread, and again in every repeat; the
table shows medians. Seconds are of the process's own CPU time, so that other work on the core does not
count. EvoTorch has no seeds for episodes: its environment's reset is replaced by one that brings them.

    plain       one env.step and one call of a torch module in turn, as those programs do that users have now
    by hand     the same, with as little around torch's five operations as one can write
    GymNE       evotorch.neuroevolution.GymNE evaluating a SolutionBatch in this process
    ours, w     mpi_es.evaluation.rollout with w episodes in lockstep; 16 is the default of --envs-per-rank
    gym.make, envs.make: the environment alone, stepped with the actions of the plain loop

"environment" is the share that the environment alone has of a loop's time, "agree" the episodes whose
return is that of the plain loop: torch and numpy round differently, which may change an action once in a
while.
"""

import argparse
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from torch import nn

from mpi_es import envs
from mpi_es.evaluation.rollout import Episode, Rollout, Terms
from mpi_es.evaluation.sources import StaticSource
from mpi_es.policies.base import Policy
from mpi_es.policies.mlp import MLP

ENVIRONMENTS = ("LunarLander-v3", "CartPole-v1")
WIDTHS = (1, 16)
SPREAD = 0.3  # of the candidates around torch's initialisation: some fall at once, some last


@dataclass(frozen=True)
class Work:
    """The episodes that every loop runs: candidates (episodes, dim), one on each seed."""

    env_id: str
    policy: Policy
    module: Callable[[], nn.Module]  # the policy's network
    candidates: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))
    seeds: list[int] = field(default_factory=list)


Outcome = tuple[int, NDArray[np.float64]]  # the steps of all episodes, and the return of each
Loop = Callable[[], Outcome]


def plain(work: Work, actions: list[list[int]] | None = None) -> Loop:
    """Return the loop of shared/seeds/003: gym.make's environment, a module called with its gradients on.

    Args:
        actions: where to note the actions of each episode.
    """
    env, module = gym.make(work.env_id), work.module()

    def episode(candidate: NDArray[np.float32], seed: int) -> tuple[int, float]:
        nn.utils.vector_to_parameters(torch.from_numpy(candidate), module.parameters())
        observation, _ = env.reset(seed=seed)  # theirs draws a seed
        total, steps, over, taken = 0.0, 0, False, []
        while not over:
            # Their two lines, word for word: no torch.no_grad, and .float() is in their module's forward.
            net_output = module(torch.tensor(observation).float())
            action = net_output.data.numpy().argmax()
            observation, reward, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
            total += reward
            steps += 1
            if actions is not None:
                taken.append(int(action))
        if actions is not None:
            actions.append(taken)
        return steps, total

    return partial(_one_by_one, work, episode)


def by_hand(work: Work) -> Loop:
    """Return the fastest loop that asks torch at each step: no module, gradients, copies or wrappers."""
    env, limit = envs.make(work.env_id)
    module = work.module()

    def episode(candidate: NDArray[np.float32], seed: int) -> tuple[int, float]:
        nn.utils.vector_to_parameters(torch.from_numpy(candidate), module.parameters())
        w_1, b_1, w_2, b_2, w_3, b_3 = (p.detach() for p in module.parameters())
        observation, _ = env.reset(seed=seed)
        total, steps, over = 0.0, 0, False
        step, tensor, addmv = env.step, torch.from_numpy, torch.addmv
        while not over and steps < limit:
            hidden = addmv(b_1, w_1, tensor(observation)).tanh_()
            hidden = addmv(b_2, w_2, hidden).tanh_()
            action = addmv(b_3, w_3, hidden).argmax().item()
            observation, reward, over, _, _ = step(action)
            total += reward
            steps += 1
        return steps, total

    def run() -> Outcome:
        with torch.inference_mode():
            return _one_by_one(work, episode)

    return run


def _one_by_one(work: Work, episode: Callable[..., tuple[int, float]]) -> Outcome:
    results = [episode(*pair) for pair in zip(work.candidates, work.seeds, strict=True)]
    return sum(steps for steps, _ in results), np.array([total for _, total in results])


def gymne(work: Work, made: Callable[[], gym.Env] | None = None) -> Loop:
    """Return EvoTorch's evaluation of a batch of solutions, which counts its steps itself.

    Args:
        made: what makes the environment; otherwise gym.make, which is what GymNE does with an id.
    """
    from evotorch import SolutionBatch
    from evotorch.neuroevolution import GymNE

    def make() -> gym.Env:
        env = made() if made else gym.make(work.env_id)
        reset, seeds = env.reset, cycle(work.seeds)
        env.reset = lambda: reset(seed=next(seeds))  # steps are as they were
        return env

    # No actors: one would be this process, more would be Ray's. Normalisation is off by default.
    problem = GymNE(make, lambda: work.module(), num_actors=None)
    values = torch.from_numpy(work.candidates)

    def run() -> Outcome:
        before = problem.interaction_count
        batch = SolutionBatch(problem, len(values), empty=True)
        batch.set_values(values)
        problem.evaluate(batch)
        return problem.interaction_count - before, batch.evals[:, 0].numpy().astype(np.float64)

    return run


def ours(work: Work, width: int, terms: Terms | None = None) -> Loop:
    """Return a rank's part of a static evaluation."""
    rollout = Rollout(work.policy, envs.open_batch(work.env_id, width=width), width)
    pairs = zip(work.seeds, work.candidates, strict=True)
    episodes = [Episode(i, i, int(seed), candidate) for i, (seed, candidate) in enumerate(pairs)]

    def run() -> Outcome:
        rows = rollout.run(StaticSource(episodes), terms or Terms())
        rows = rows[np.argsort(rows[:, 0])]
        return int(rows[:, 2].sum()), rows[:, 1]

    return run


def alone(work: Work, env: gym.Env, actions: list[list[int]]) -> Loop:
    """Return the environment without a network: it replays actions."""

    def episode(seed: int, taken: list[int]) -> float:
        env.reset(seed=seed)
        total, step = 0.0, env.step
        for action in taken:
            total += step(action)[1]
        return total

    def run() -> Outcome:
        returns = [episode(*pair) for pair in zip(work.seeds, actions, strict=True)]
        return sum(map(len, actions)), np.array(returns)

    return run


def make_work(env_id: str, episodes: int) -> Work:
    """Return random candidates and the seeds of their episodes."""
    env, _ = envs.make(env_id)
    policy = MLP(MLP.Options(), env.observation_space, env.action_space)
    return draw(Work(env_id, policy, policy.module), policy.initial(0), SPREAD, episodes)


def draw(work: Work, centre: NDArray[np.float32], spread: float, episodes: int) -> Work:
    """Return the work with candidates around a centre, and a seed for each."""
    generator = np.random.default_rng(0)
    noise = generator.standard_normal((episodes, len(centre)), np.float32)
    seeds = generator.integers(2**31, size=episodes).tolist()
    return replace(work, candidates=centre + np.float32(spread) * noise, seeds=seeds)


def make_loops(work: Work) -> dict[str, Loop]:
    """Return the loops by name, the plain one first."""
    actions: list[list[int]] = []
    plain(work, actions)()
    loops = {"plain": plain(work), "by hand": by_hand(work)}
    try:
        loops["GymNE"] = gymne(work)
    except ImportError as error:
        print(f"without GymNE: {error}; pip install evotorch")
    loops |= {f"ours, {width}": ours(work, width) for width in WIDTHS}
    loops["gym.make"] = alone(work, gym.make(work.env_id), actions)
    loops["envs.make"] = alone(work, envs.make(work.env_id)[0], actions)
    return loops


def benchmark(env_id: str, episodes: int, repeats: int) -> None:
    """Print the table of an environment."""
    work = make_work(env_id, episodes)
    loops = make_loops(work)
    returns = {name: loop()[1] for name, loop in loops.items()}  # also warms up
    speeds: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(repeats):
        for name, loop in loops.items():
            begin = time.process_time()
            steps, _ = loop()
            speeds[name].append(steps / (time.process_time() - begin))
    print(f"\n{env_id}: {episodes} episodes of {steps / episodes:.1f} steps on average, {repeats} repeats")
    print("loop       steps/s  us/step  times plain (all repeats)      environment  agree")
    for name, mine in speeds.items():
        ratios = [a / b for a, b in zip(mine, speeds["plain"], strict=True)]
        bare = "gym.make" if name in ("plain", "GymNE", "gym.make") else "envs.make"
        share = np.median([a / b for a, b in zip(mine, speeds[bare], strict=True)])
        agree = np.isclose(returns[name], returns["plain"], rtol=1e-5).sum()  # EvoTorch's are single
        speed = np.median(mine)
        spread = f"{np.median(ratios):5.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"{name:9s} {speed:8.0f} {1e6 / speed:8.2f}  {spread:29s} {share:11.0%}  {agree}/{episodes}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})
    torch.set_num_threads(1)
    logging.disable(logging.INFO)  # EvoTorch tells what it does
    with threadpool_limits(1):
        for env_id in ENVIRONMENTS:
            benchmark(env_id, options.episodes, options.repeats)


if __name__ == "__main__":
    main()
