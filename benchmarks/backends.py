"""Environment steps per second on one core: our worlds, gymnasium and envpool, and EvoTorch's problems.

python benchmarks/backends.py [ENVIRONMENT …] [--repeats 5] [--core 0] [--gymnax PYTHON]

An MLP 64-64 with tanh, and for Pong the network of DQN on four frames. All loops evaluate the same
candidates, one loop after the other in one process that is pinned to one core and has one thread, and again
in every repeat; the table shows medians. Seconds are of the process's own CPU time, so that other work on
the core does not count. Episodes are cut, so that no loop plays many more steps than another: envpool,
VecGymNE and gymnax draw other beginnings.

    GymNE        evotorch.neuroevolution.GymNE: an environment at a time, a call of the module for each step
    VecGymNE     evotorch.neuroevolution.VecGymNE: gymnasium's vector environments, all networks in one call
    gymnax       CartPole only: JAX steps all candidates to the cap, in another process with PYTHON
    gymnasium    mpi_es with gymnasium's environments, 16 in lockstep
    envpool, w   mpi_es with envpool's, w in lockstep; 64 is the default
    compiled     mpi_es with its own world, whole episodes in compiled code
"""

import argparse
import logging
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from torch import nn

from mpi_es import envs, policies
from mpi_es.config.run import configured
from mpi_es.evaluation.build import make_rollout
from mpi_es.evaluation.compiled.rollout import CompiledRollout
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules, Rollout
from mpi_es.evaluation.sources import StaticSource
from mpi_es.policies.base import Policy
from mpi_es.policies.mlp import MLP
from mpi_es.policies.torch_module import ModulePolicy

POOL_WIDTHS = (16, 64, 256)


@dataclass(frozen=True)
class Work:
    """The episodes that every loop runs: candidates (episodes, dim), one on each seed."""

    env_id: str
    policy: Policy
    module: Callable[[], nn.Module]  # the policy's network
    candidates: NDArray[np.float32]
    seeds: list[int]


Loop = Callable[[], tuple[int, float]]  # returns the steps of all episodes, and their seconds


def timed(play: Callable[[], int]) -> Loop:
    """Return the loop whose seconds are this process's."""

    def run() -> tuple[int, float]:
        begin = time.process_time()
        steps = play()
        return steps, time.process_time() - begin

    return run


@dataclass(frozen=True)
class Task:
    """An environment as each program names it, and the network that acts in it."""

    env: str  # gymnasium's id, or the function that makes it
    pool: str  # envpool's id
    policy: str = "mlp"
    episodes: int = 256
    spread: float = 0.3  # of the candidates around torch's initialisation: some fall at once, some last
    cap: int = 200  # steps of an episode, at most
    world: str = ""  # our id


TASKS = {
    "CartPole": Task("CartPole-v1", "CartPole-v1", spread=0.01, world="mpi_es/CartPole-v1"),
    "LunarLander": Task("LunarLander-v3", "LunarLander-v3", world="mpi_es/LunarLander-v3"),
    "BipedalWalker": Task("BipedalWalker-v3", "BipedalWalker-v3", world="mpi_es/BipedalWalker-v3"),
    "hardcore": Task(
        "BipedalWalkerHardcore-v3", "BipedalWalkerHardcore-v3", world="mpi_es/BipedalWalkerHardcore-v3"
    ),
    "HalfCheetah": Task("HalfCheetah-v5", "HalfCheetah-v5"),
    "Pong": Task(
        "mpi_es.papers.atari_frames:make_stacked",
        "Pong-v5",
        "mpi_es.papers.atari_networks:Stacked",
        16,
        0.01,
        500,
    ),
}


class Single(nn.Module):
    """A network that takes one observation at a time, as EvoTorch gives them."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Return the outputs for an observation without the axis of the batch."""
        outputs: torch.Tensor = self.network(observation[None])[0]
        return outputs


def balancing(parameters: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the parameters of a 64-64 network that balances CartPole's pole by one unit of each layer.

    Untrained networks let it fall after twenty steps, while a training soon plays hundreds.
    """
    module = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    nn.utils.vector_to_parameters(torch.zeros(len(parameters)), module.parameters())
    first, second, last = (module[i].weight.data for i in (0, 2, 4))
    first[0] = torch.tensor([0.1, 0.3, 1.5, 1.0])  # of position, speed, angle and its speed
    second[0, 0] = 1.0
    last[:, 0] = torch.tensor([-1.0, 1.0])
    return nn.utils.parameters_to_vector(module.parameters()).detach().numpy()


def make_work(task: Task, episodes: int) -> Work:
    """Return the candidates of a task, and their seeds."""
    env, _ = envs.make(task.env)
    policy = policies.make(configured(policy=task.policy), env.observation_space, env.action_space)
    assert isinstance(policy, MLP | ModulePolicy)
    centre = policy.initial(0)
    if task.env == "CartPole-v1":
        centre = balancing(centre)
    generator = np.random.default_rng(0)
    noise = generator.standard_normal((episodes, len(centre)), np.float32)
    seeds = generator.integers(2**31, size=episodes).tolist()
    candidates = centre + np.float32(task.spread) * noise
    return Work(task.env, policy, lambda: Single(policy.module()), candidates, seeds)


def gymne(work: Work, made: Callable[[], gym.Env]) -> Loop:
    """Return EvoTorch's evaluation of a batch of solutions, which counts its steps itself."""
    from evotorch import SolutionBatch
    from evotorch.neuroevolution import GymNE

    def make() -> gym.Env:
        env = made()
        reset, seeds = env.reset, cycle(work.seeds)
        env.reset = lambda: reset(seed=next(seeds))  # steps are as they were
        return env

    # No actors: one would be this process, more would be Ray's. Normalisation is off by default.
    problem = GymNE(make, work.module, num_actors=None)
    values = torch.from_numpy(work.candidates)

    def run() -> int:
        before = problem.interaction_count
        batch = SolutionBatch(problem, len(values), empty=True)
        batch.set_values(values)
        problem.evaluate(batch)
        return problem.interaction_count - before

    return timed(run)


def vecgymne(work: Work, made: Callable[[], gym.Env]) -> Loop:
    """Return EvoTorch's evaluation in gymnasium's vector of environments, one for each solution."""
    from evotorch import SolutionBatch
    from evotorch.neuroevolution import VecGymNE

    def make(num_envs: int, **_: Any) -> gym.vector.VectorEnv:
        return gym.vector.SyncVectorEnv([made] * num_envs)

    problem = VecGymNE(make, work.module, num_actors=None)
    values = torch.from_numpy(work.candidates)

    def run() -> int:
        before = int(problem.status.get("total_interaction_count") or 0)
        batch = SolutionBatch(problem, len(values), empty=True)
        batch.set_values(values)
        problem.evaluate(batch)
        return int(problem.status["total_interaction_count"]) - before

    return timed(run)


def gymnax(work: Work, python: str, place: str) -> Loop:
    """Return gymnax's steps in a process of its own, which has JAX."""
    np.save(path := Path(place, "candidates.npy"), work.candidates)
    command = [python, str(Path(__file__).with_name("gymnax_cartpole.py")), str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin
    assert process.stdout
    begin, answers = process.stdin, process.stdout

    def run() -> tuple[int, float]:
        print(file=begin, flush=True)
        steps, seconds = answers.readline().split()
        return int(steps), float(seconds)

    return run


def in_lockstep(work: Work, width: int) -> EnvRollout:
    """Return what steps so many environments side by side."""
    return EnvRollout(work.policy, envs.open_batch(work.env_id, width=width), width)


def in_compiled_code(task: Task) -> CompiledRollout:
    """Return what runs whole episodes of our world."""
    rollout = make_rollout(configured(env=task.world, policy=task.policy))
    assert isinstance(rollout, CompiledRollout)
    return rollout


def ours(work: Work, rollout: Rollout, rules: EpisodeRules) -> Loop:
    """Return a rank's part of a static evaluation."""
    pairs = zip(work.seeds, work.candidates, strict=True)
    episodes = [Episode(i, i, int(seed), candidate) for i, (seed, candidate) in enumerate(pairs)]

    def run() -> int:
        rows = rollout.run(StaticSource(episodes), rules)
        return int(rows[:, 2].sum())

    return timed(run)


def make_loops(work: Work, task: Task, jax: str, place: str) -> dict[str, Loop]:
    """Return the loops by name, EvoTorch's first.

    Args:
        jax: the Python that has gymnax, or none.
        place: a directory for the candidates.
    """
    capped, pooled = EpisodeRules(task.cap), replace(work, env_id=f"envpool:{task.pool}")

    def made() -> gym.Env:
        plain = ":" in task.env
        return gym.wrappers.TimeLimit(envs.make(task.env)[0] if plain else gym.make(task.env), task.cap)

    loops = {
        "GymNE": gymne(work, made),
        "VecGymNE": vecgymne(work, made),
        "gymnasium": ours(work, in_lockstep(work, 16), capped),
    }
    if jax and task.env == "CartPole-v1":
        loops["gymnax"] = gymnax(work, jax, place)
    loops |= {f"envpool, {width}": ours(work, in_lockstep(pooled, width), capped) for width in POOL_WIDTHS}
    return loops | ({"compiled": ours(work, in_compiled_code(task), capped)} if task.world else {})


def benchmark(name: str, repeats: int, jax: str, place: str) -> None:
    """Print the table of an environment; jax and place are make_loops's."""
    task = TASKS[name]
    episodes = task.episodes
    loops = make_loops(make_work(task, episodes), task, jax, place)
    for loop in loops.values():
        loop()  # warms up
    speeds: dict[str, list[float]] = {name: [] for name in loops}
    lengths = {}
    for _ in range(repeats):
        for program, loop in loops.items():
            steps, seconds = loop()
            speeds[program].append(steps / seconds)
            lengths[program] = steps / episodes
    print(f"\n{name}: {episodes} episodes of at most {task.cap} steps, {repeats} repeats")
    print("loop             steps/s  times GymNE (all repeats)    steps an episode")
    for program, mine in speeds.items():
        ratios = [a / b for a, b in zip(mine, speeds["GymNE"], strict=True)]
        spread = f"{np.median(ratios):5.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
        print(f"{program:12s} {np.median(mine):11,.0f}  {spread:27s}  {lengths[program]:.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("environments", nargs="*", default=list(TASKS), help=", ".join(TASKS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--gymnax", default="", help="the Python of an environment with gymnax and JAX")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})
    torch.set_num_threads(1)
    logging.disable(logging.INFO)  # EvoTorch tells what it does
    with threadpool_limits(1), TemporaryDirectory() as place:
        for name in options.environments:
            benchmark(name, options.repeats, options.gymnax, place)


if __name__ == "__main__":
    main()
