"""CarRacing and the self-attention agent: ours compared with gymnasium with torch, and with envpool.

python benchmarks/car_racing.py [speed] [start] [ranks] [generation] [scores] [--weights FILE] [--repeats 5]

    speed       microseconds of a step and what its parts take. Each loop drives its own episode on the same
                seed, one loop after the other in one process that is pinned to one core and has one thread,
                again in every repeat. Seconds are of the process's own CPU time, so that other work on the
                core does not count.
    start       seconds until the first step, with an empty and with a filled cache, and resident memory
    ranks       steps a second of 2 ranks, by turns alone and together
    generation  the paper's generation, 256 candidates with 16 episodes each, on 2 ranks; gymnasium with
                torch extrapolated from 64 of the same episodes. CPU seconds, a half on each core
    scores      returns of one agent, episode by episode (--episodes 100): gymnasium with torch, ours

Without names all but the last two, which take many minutes. --weights is an npz file with the agent's 3667
parameters in torch's order as `params`; without it the agent is an untrained one.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import launching
import numpy as np

from mpi_es import envs
from mpi_es.config.run import Config, configured
from mpi_es.evaluation import build
from mpi_es.evaluation.messages import Evaluation
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from mpi_es.jit.decorator import compiled
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.parallel.waiting import wait
from mpi_es.run_file.scores import half_interval
from mpi_es.seeds import Stream, rng
from mpi_es.worlds.car_racing import simulation
from mpi_es.worlds.car_racing.physics import race
from mpi_es.worlds.car_racing.picture.sizes import SIDE
from mpi_es.worlds.numpy_random import seed_generator

EARLY_STOP, CAP = 20, 1000  # the paper's early stop and frame cap
POPSIZE, ROLLOUTS, SIGMA = 256, 16, 0.1  # the paper's
ROUNDS = 8  # of ranks that take turns, in each repeat
SAMPLE = 64  # episodes from which gymnasium's generation is extrapolated


def config(picture: str, **changes: Any) -> Config:
    """Return the config of the agent on our environment."""
    env = {"env": "mpi_es/CarRacing-v3", "env_options": (f"picture={picture}",)}
    return configured(policy="attention", hidden=(16,), **(env | changes))


@cache
def rollout(picture: str) -> Any:
    """Return our compiled rollout, compiled."""
    return build.make_evaluator(SerialComm(), config(picture), StopFlag()).rollout


@cache
def torch_agent(weights: bytes) -> Any:
    """Return the agent as a torch module, and torch."""
    import torch

    torch.set_num_threads(1)
    module = rollout("close").policy.module()
    vector = torch.from_numpy(np.frombuffer(weights, np.float32).copy())
    torch.nn.utils.vector_to_parameters(vector, module.parameters())
    return module.requires_grad_(False), torch


@cache
def gymnasium_env() -> Any:
    """Return gymnasium's environment, without wrappers."""
    return gym.make("CarRacing-v3").unwrapped


def scaled(outputs: Any) -> np.ndarray:
    """Return the action of outputs in [-1, 1]."""
    return (np.asarray(outputs, np.float32) * [1, 0.5, 0.5] + [0, 0.5, 0.5]).astype(np.float32)


def drive_gymnasium(weights: np.ndarray, seed: int, cap: int, early_stop: int) -> tuple[float, int]:
    """Return the return and the length of an episode of gymnasium with torch."""
    module, torch = torch_agent(weights.tobytes())
    env, memory = gymnasium_env(), None
    observation, _ = env.reset(seed=seed)
    total, length, losing, over = 0.0, 0, 0, False
    while not over:
        outputs, memory = module(torch.from_numpy(observation.copy())[None], memory)
        observation, reward, over, _, _ = env.step(scaled(outputs[0]))
        total, length = total + float(reward), length + 1
        losing = losing + 1 if reward < 0 else 0
        over = over or length == cap or (early_stop > 0 and losing > early_stop)
    return total, length


def drive_ours(picture: str, weights: np.ndarray, seeds: Any, cap: int, early_stop: int) -> np.ndarray:
    """Return rows (episodes, 3) of id, return and length."""
    source = StaticSource(Episode(i, i, int(seed), weights) for i, seed in enumerate(seeds))
    return np.array(rollout(picture).run(source, EpisodeRules(cap=cap, early_stop=early_stop)))


# Speed


@compiled()
def physics_only(sim: Any, seed: int, actions: Any) -> None:
    """Drive recorded actions without a picture."""
    seed_generator(sim.generator, seed)
    race.reset(sim.world, sim.physics, sim.generator)
    for i in range(len(actions)):
        race.step(sim.world, sim.physics, actions[i, 0], actions[i, 1], actions[i, 2])


@compiled()
def without_agent(sim: Any, seed: int, actions: Any) -> None:
    """Drive recorded actions."""
    picture = np.zeros((SIDE, SIDE, 3), np.uint8)
    simulation.begin(sim, seed)
    for i in range(len(actions)):
        simulation.draw(sim, picture)
        simulation.move(sim, actions[i, 0], actions[i, 1], actions[i, 2])


def record(weights: np.ndarray, steps: int, seed: int) -> np.ndarray:
    """Return the actions (at most steps, 3) of an episode that the agent drives."""
    env, policy = envs.make("mpi_es/CarRacing-v3", ("picture=exact",))[0], rollout("exact").policy
    unpacked, memory, actions = policy.unpack(weights[None]), policy.initial_memory(1), []
    observation, _ = env.reset(seed=seed)
    for _ in range(steps):
        action, memory = policy.act(unpacked, observation[None], memory)
        actions.append(action[0])
        observation, _, over, _, _ = env.step(action[0])
        if over:
            break
    return np.array(actions, np.float64)


def clocked(function: Any, *arguments: Any) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and what it returns."""
    begin = time.process_time()
    result = function(*arguments)
    return time.process_time() - begin, result


def envpool_env(seed: int) -> Any:
    """Return envpool's environment."""
    import envpool

    return envpool.make("CarRacing-v2", env_type="gymnasium", num_envs=1, seed=[seed], num_threads=1)


def envpool_with_ours(env: Any, weights: np.ndarray, steps: int) -> None:
    """Drive envpool's environment by our agent."""
    policy = rollout("close").policy
    unpacked, memory = policy.unpack(weights[None]), policy.initial_memory(1)
    observation, _ = env.reset()
    for _ in range(steps):
        action, memory = policy.act(unpacked, observation, memory)
        observation = env.step(action.astype(np.float64))[0]


def envpool_alone(env: Any, actions: np.ndarray) -> None:
    """Drive recorded actions in envpool's environment."""
    env.reset()
    for action in actions:
        env.step(action[None])


def gymnasium_alone(actions: np.ndarray, seed: int) -> None:
    """Drive recorded actions in gymnasium's environment."""
    env = gymnasium_env()
    env.reset(seed=seed)
    for action in actions.astype(np.float32):
        env.step(action)


def our_parts(picture: str, weights: np.ndarray, actions: np.ndarray, seed: int) -> dict[str, float]:
    """Return the CPU seconds of a step of ours and of its parts."""
    sim = simulation.allocate(picture)
    steps = len(actions)
    physics = clocked(physics_only, sim, seed, actions)[0] / steps
    both = clocked(without_agent, sim, seed, actions)[0] / steps
    seconds, rows = clocked(drive_ours, picture, weights, [seed], steps, 0)
    total = seconds / rows[0, 2]
    return {"step": total, "physics": physics, "picture": both - physics, "agent": total - both}


def speed(weights: np.ndarray, options: argparse.Namespace) -> None:
    """Print microseconds of a step, and how many times faster than gymnasium with torch."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    steps, seed = options.steps, 1
    actions = record(weights, steps, seed)
    found: list[dict[str, dict[str, float]]] = []
    for repeat in range(options.repeats + 1):
        seconds, (_, length) = clocked(drive_gymnasium, weights, seed, steps, 0)
        plain = seconds / length
        env = clocked(gymnasium_alone, actions, seed)[0] / len(actions)
        pool = clocked(envpool_with_ours, envpool_env(seed), weights, steps)[0] / steps
        pool_env = clocked(envpool_alone, envpool_env(seed), actions)[0] / len(actions)
        loops = {
            "gymnasium + torch": {"step": plain, "environment": env, "agent": plain - env},
            "envpool + our agent": {"step": pool, "environment": pool_env, "agent": pool - pool_env},
            "ours, close": our_parts("close", weights, actions, seed),
            "ours, exact": our_parts("exact", weights, actions, seed),
        }
        if repeat:  # the first warms up
            found.append(loops)
    os.sched_setaffinity(0, cores)
    print(f"microseconds a step, medians of {options.repeats} episodes of {steps} steps")
    for name in found[0]:
        ratios = sorted(f["gymnasium + torch"]["step"] / f[name]["step"] for f in found)
        parts = {part: 1e6 * np.median([f[name][part] for f in found]) for part in found[0][name]}
        said = ", ".join(f"{part} {value:.0f}" for part, value in parts.items() if part != "step")
        spread = f"{np.median(ratios):6.1f}x ({ratios[0]:.1f} to {ratios[-1]:.1f})"
        print(f"{name:20s} {parts['step']:8.0f}  {spread:26s}  {said}")


# The start, and more ranks than one


def first_step() -> None:
    """Print the seconds since the interpreter began, and the memory of this process, after a first step."""
    drive_ours("close", np.zeros(rollout("close").policy.dim, np.float32), [0], 1, 0)
    born = int(Path("/proc/self/stat").read_text().split()[21]) / os.sysconf("SC_CLK_TCK")
    up = float(Path("/proc/uptime").read_text().split()[0])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": up - born, "memory": memory}))


def start(weights: np.ndarray, options: argparse.Namespace) -> None:
    """Print the seconds until the first step, and a rank's memory."""
    with tempfile.TemporaryDirectory() as directory:
        environ = os.environ | {"NUMBA_CACHE_DIR": directory}
        found = []
        for _ in range(1 + options.repeats):
            command = [sys.executable, __file__, "first-step"]
            done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
    seconds = np.median([one["seconds"] for one in found[1:]])
    memory = np.median([one["memory"] for one in found[1:]])
    print(
        f"first step after {found[0]['seconds']:.1f} s with an empty cache, {seconds:.1f} s with a filled one"
    )
    print(f"resident memory of a rank: {found[0]['memory']:.0f} MiB and {memory:.0f} MiB")


def take_turns(weights: np.ndarray) -> None:
    """Print on rank 0, round by round, the steps a second of 2 ranks: of each alone, and of each in both."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    drive_ours("close", weights, [0], 10, 0)
    rounds = []
    for _ in range(ROUNDS):
        speeds = []
        for driving in ([0], [1], [0, 1]):
            wait(comm.Ibarrier())  # without a share of the machine
            begin = time.perf_counter()
            if comm.rank in driving:
                steps = drive_ours("close", weights, 5 * comm.rank + np.arange(5), CAP, 0)[:, 2].sum()
                speeds.append(steps / (time.perf_counter() - begin))
            wait(comm.Ibarrier())
        rounds.append(comm.gather(speeds))
    if comm.rank == 0:
        print(json.dumps(rounds))


def ranks(weights: np.ndarray, options: argparse.Namespace) -> None:
    """Print what a second rank brings."""
    found = [launched(2, "take-turns", options) for _ in range(options.repeats)]
    speeds = np.concatenate(found)  # (rounds, ranks, alone or both)
    one, two = np.median(speeds.mean(axis=1)[:, 0]), np.median(speeds.sum(axis=1)[:, 1])
    ratios = (speeds[:, :, 1] / speeds[:, :, 0]).mean(axis=1)
    low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
    print(f"steps a second: {one:,.0f} on 1 rank, {two:,.0f} on 2")
    print(f"efficiency {middle:.3f}, median of {len(ratios)} rounds; quartiles {low:.3f} and {high:.3f}")


def launched(count: int, name: str, options: argparse.Namespace) -> Any:
    """Return what a section of this program prints under mpiexec."""
    weights = ["--weights", options.weights] if options.weights else []
    return launching.records(count, __file__, name, *weights)[-1]


# A generation


def paper_population(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return candidates (256, dim) around the weights, and their episode seeds (256, 16)."""
    rows = rng(1, Stream.SAMPLE).standard_normal((POPSIZE, len(weights)), np.float32)
    seeds = rng(1, Stream.EPISODE).integers(2**31, size=(POPSIZE, ROLLOUTS))
    return weights + np.float32(SIGMA) * rows, seeds


def evaluate_generation(weights: np.ndarray) -> None:
    """Print on rank 0 the CPU seconds of all ranks, the steps and the idle share of our generation."""
    from mpi4py import MPI

    from mpi_es.strategies.base import Dense

    comm = MPI.COMM_WORLD
    evaluator = build.make_evaluator(comm, config("close"), StopFlag())
    candidates, seeds = paper_population(weights)
    done: list[Evaluation] = []

    def report() -> None:
        rules = EpisodeRules(cap=CAP, early_stop=EARLY_STOP)
        done.append(evaluator.evaluate(Dense(candidates), seeds, rules))

    begin = time.process_time()
    evaluator.loop.run_on_root(report)
    seconds = comm.reduce(time.process_time() - begin)
    if comm.rank == 0:
        print(json.dumps([seconds, int(done[0].lengths.sum()), done[0].idle]))


def generation(weights: np.ndarray, options: argparse.Namespace) -> None:
    """Print what a generation of the paper's costs."""
    candidates, seeds = paper_population(weights)
    both, steps, idle = launched(2, "evaluate-generation", options)
    seconds = both / 2 / (1 - idle)
    chosen = rng(2, Stream.EPISODE).choice(seeds.size, SAMPLE, replace=False)
    drive_gymnasium(candidates[0], 0, 10, 0)
    costs = []
    for episode_id in chosen:
        candidate = candidates[episode_id // ROLLOUTS].astype(np.float32)
        costs.append(clocked(drive_gymnasium, candidate, int(seeds.ravel()[episode_id]), CAP, EARLY_STOP)[0])
    theirs = np.mean(costs) * seeds.size / 2
    error = half_interval(np.array(costs)) * seeds.size / 2
    print(
        f"a generation of {POPSIZE} x {ROLLOUTS} episodes ({steps:,} steps) on 2 cores: ours {seconds:.1f} s,"
    )
    print(
        f"gymnasium + torch {theirs:.0f} +/- {error:.0f} s by {SAMPLE} episodes, {theirs / seconds:.1f} times"
    )


# Scores


def gymnasium_score(arguments: tuple[np.ndarray, int]) -> float:
    """Return the return of an episode."""
    weights, seed = arguments
    return drive_gymnasium(weights, seed, CAP, 0)[0]


def scores(weights: np.ndarray, options: argparse.Namespace) -> None:
    """Print the returns of the three ways to drive."""
    seeds = list(range(options.episodes))
    ours = {name: drive_ours(name, weights, seeds, CAP, 0)[:, 1] for name in simulation.PICTURES}
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        theirs = np.array(list(pool.map(gymnasium_score, [(weights, seed) for seed in seeds])))
    print(f"returns over seeds 0 to {len(seeds) - 1}")
    print(f"gymnasium + torch: {theirs.mean():.1f} +/- {theirs.std(ddof=1):.1f}")
    for name, returns in ours.items():
        difference = returns - theirs
        half = half_interval(difference)
        same = np.sum(np.abs(difference) < 1e-6)
        print(
            f"ours, {name}: {returns.mean():.1f} +/- {returns.std(ddof=1):.1f}, difference "
            f"{difference.mean():+.1f}, 95 % interval [{difference.mean() - half:+.1f}, "
            f"{difference.mean() + half:+.1f}], {same} episodes equal"
        )


SECTIONS = {"speed": speed, "start": start, "ranks": ranks, "generation": generation, "scores": scores}
INNER = {"take-turns": take_turns, "evaluate-generation": evaluate_generation}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, *INNER, "first-step"])
    parser.add_argument("--weights", default="")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--episodes", type=int, default=100)
    options = parser.parse_args()
    if options.sections == ["first-step"]:
        first_step()
        return
    if options.weights:
        weights = np.load(options.weights)["params"].astype(np.float32)
    else:
        weights = build.make_policy(config("close")).initial(1)
    for name in options.sections or ("speed", "start", "ranks"):
        if name in INNER:
            INNER[name](weights)
        else:
            SECTIONS[name](weights, options)


if __name__ == "__main__":
    main()
