"""How many ranks one rank 0 can serve: measured with episodes that sleep, and a model beyond.

python benchmarks/scaling.py measure [--ranks 32 64 128 256] [--rate 600 | --mean 0.1] [--csv FILE]
python benchmarks/scaling.py model [--answer 50] [--per-rank 16] [--csv FILE] [--plot FILE] [--measured FILE]

A sleeping rank costs no CPU, so that hundreds fit on two cores, if each seldom evaluates: `--rate` is the
number of episodes per second of all ranks together, and the mean duration of an episode follows from it, if
it is not given as `--mean`. Durations are lognormal with a deviation of a quarter, and each rank plays
`--per-rank` episodes in the mean. "of ideal" is the sum of all durations, divided by the number of ranks that
evaluate and by the seconds that it took. `--csv` of `measure` is a file that its rows are added to.

The model plays the same schedule by the same code (mpi_es.evaluation.schedule) with one server: an answer
takes `--answer` microseconds, and a request waits for those before it. Nothing else costs time in it.
"""

import argparse
import csv
import heapq
import json
import os
import time
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import launching
import numpy as np

from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.messages import Header
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.evaluation.schedule import Schedule, are_plenty, at_once, first_shares
from mpi_es.seeds import Stream, rng
from mpi_es.strategies.base import Dense
from mpi_es.strategies.noise import ComputedNoise

SPREAD = 0.25
EPISODES = 16  # of a candidate
MEASURED = ("cores", "ranks", "episode_seconds", "per_rank", "of_ideal", "model", "root_us")


def duration(seed: int, mean: float) -> float:
    """Return how long the episode of a seed takes."""
    return mean * float(np.exp(SPREAD * rng(seed, Stream.EPISODE, 0).standard_normal() - SPREAD**2 / 2))


class Sleeper(gym.Env):
    """An episode of one step, which sleeps as long as its seed says."""

    mean = 0.1
    observation_space = gym.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        """Note when the episode is to end."""
        self.end = time.perf_counter() + duration(int(seed), Sleeper.mean)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        """Sleep until then."""
        time.sleep(max(0.0, self.end - time.perf_counter()))
        return np.zeros(1, np.float32), 1.0, True, False, {}


class Nothing:
    """A policy that costs nothing: of a Policy it has what a rollout calls."""

    dim = 3667  # the attention agent's, which travel all the same
    one_thread = staticmethod(nullcontext)

    def initial_memory(self, k):
        """Return no memory."""

    def start(self, episode_seed, candidate):
        """Return no memory."""

    def unpack(self, parameters):
        """Return nothing."""

    def act(self, weights, observations, memory):
        """Return the action 0."""
        return np.zeros(len(observations), np.int64), None


# Measuring


def candidates_of(per_rank: int, ranks: int) -> int:
    """Return how many candidates give each rank but rank 0 so many episodes in the mean; at least one."""
    return max(1, per_rank * (ranks - 1) // EPISODES)


def worker(mean: float, per_rank: int, repeats: int) -> None:
    """Evaluate on all ranks; rank 0 prints a line of JSON for each repeat."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    policy: Any = Nothing()
    rollout = EnvRollout(policy, SeparateEnvs(lambda: (Sleeper(), 0)), 1)
    evaluator = Evaluator(comm, rollout, ComputedNoise(0, policy.dim), dynamic=True, dedicated_root=True)
    if comm.rank:
        Sleeper.mean = mean
        evaluator.loop.serve()
        return
    candidates = candidates_of(per_rank, comm.size)
    seeds = np.arange(candidates * EPISODES).reshape(candidates, EPISODES)
    population = Dense(np.zeros((candidates, policy.dim)))
    durations = [duration(int(seed), mean) for seed in seeds.ravel()]
    evaluator.evaluate(population, seeds[:, :1], EpisodeRules())  # warm up
    for _ in range(repeats):
        begin, busy = time.perf_counter(), time.process_time()
        evaluator.evaluate(population, seeds, EpisodeRules())
        seconds, busy = time.perf_counter() - begin, time.process_time() - busy
        ideal = sum(durations) / (comm.size - 1)
        record = {"ranks": comm.size, "mean": mean, "seconds": seconds, "of_ideal": ideal / seconds}
        print(json.dumps(record | {"root_us": 1e6 * busy / seeds.size}), flush=True)
    evaluator.loop.stop()


def measure(options: argparse.Namespace) -> None:
    """Print a row for each number of ranks, medians of the repeats, beside the model's."""
    cores = len(os.sched_getaffinity(0))
    if options.csv and not options.csv.exists():
        write(options.csv, "w", [MEASURED])
    print("ranks  episode, s  a rank  of ideal  model  rank 0, us of CPU an episode")
    for ranks in options.ranks:
        mean = options.mean or (ranks - 1) / options.rate
        words = ("worker", "--mean", mean, "--per-rank", options.per_rank, "--repeats", options.repeats)
        records = launching.records(ranks, __file__, *words)
        share, root = (
            float(np.median([record[key] for record in records])) for key in ("of_ideal", "root_us")
        )
        modelled = Model(ranks, mean, options.per_rank, options.answer * 1e-6).of_ideal()
        row = [ranks, mean, options.per_rank, share, modelled, root]
        print("{:5d}  {:10.3f}  {:6d}  {:8.3f}  {:5.3f}  {:5.0f}".format(*row), flush=True)
        write(options.csv, "a", [[cores, *row]])


# The model


class Model:
    """An evaluation on `ranks` ranks, rank 0 of which only directs, in simulated time.

    Args:
        per_rank: episodes that a rank plays in the mean.
        answer: seconds that rank 0 takes for one; the first episodes need no request.
    """

    def __init__(self, ranks: int, mean: float, per_rank: int, answer: float) -> None:
        self.ranks, self.answer = ranks, answer
        candidates = candidates_of(per_rank, ranks)
        episode_ids = np.arange(candidates * EPISODES)
        self.header = Header(
            1, episode_ids.reshape(-1, EPISODES), len(episode_ids), EpisodeRules(), episodes_at_once=8
        )
        self.schedule = Schedule(self.header, episode_ids)
        normal = rng(0, Stream.EPISODE, 0).standard_normal(len(episode_ids))
        self.durations = mean * np.exp(SPREAD * normal - SPREAD**2 / 2)
        self.queues: list[deque[int]] = [deque() for _ in range(ranks)]
        self.plenty = [are_plenty(len(episode_ids), ranks)] * ranks
        self.asked, self.idle = [False] * ranks, [False] * ranks
        self.answered_at = self.end = 0.0  # the last answer so far, the last episode
        # What is to come: when, an episode that is over or nothing for an answer, the rank.
        self.events: list[tuple[float, int, int]] = []
        for rank, (start, stop) in enumerate(pairwise(first_shares(self.header, ranks))):
            self._fill(rank, stop - start)

    def of_ideal(self) -> float:
        """Return the share of the ideal that the ranks reach."""
        for rank in range(1, self.ranks):
            self._take(0.0, rank)
        while self.events:
            now, episode_id, rank = heapq.heappop(self.events)
            if episode_id >= 0:
                self.schedule.note(episode_id, 1)
                self._take(now, rank)
                continue
            self.asked[rank] = False
            self.plenty[rank] = are_plenty(self.schedule.left, self.ranks)
            self._fill(rank, at_once(self.header, self.schedule.left, self.ranks))
            if self.idle[rank] and self.queues[rank]:
                self._take(now, rank)
        return float(self.durations.sum() / (self.ranks - 1) / self.end)

    def _fill(self, rank: int, count: int) -> None:
        self.queues[rank].extend(self.schedule.next() for _ in range(count))

    def _take(self, now: float, rank: int) -> None:
        """Begin the next episode of a rank, or ask for one."""
        self.idle[rank] = not self.queues[rank]
        if not self.idle[rank]:
            episode_id = self.queues[rank].popleft()
            over = now + self.durations[episode_id]
            self.end = max(self.end, over)
            heapq.heappush(self.events, (over, episode_id, rank))
        if not self.asked[rank] and (self.idle[rank] or (self.plenty[rank] and not self.queues[rank])):
            self.asked[rank] = True
            self.answered_at = max(self.answered_at, now) + self.answer
            heapq.heappush(self.events, (self.answered_at, -1, rank))


def model(options: argparse.Namespace) -> None:
    """Print what the model says of episodes of several durations, and draw it."""
    ranks = [2**power for power in range(1, 13)]
    durations = (0.01, 0.03, 0.1, 0.3, 1.0)
    rows = []
    print("ranks  " + "  ".join(f"{mean:g} s".rjust(6) for mean in durations))
    for count in ranks:
        shares = [
            Model(count, mean, options.per_rank, options.answer * 1e-6).of_ideal() for mean in durations
        ]
        rows.append([count, *shares])
        print(f"{count:5d}  " + "  ".join(f"{share:6.3f}" for share in shares), flush=True)
    write(options.csv, "w", [["ranks", *(f"{mean:g}" for mean in durations)], *rows])
    if options.plot:
        draw(options, rows, durations)


def draw(options: argparse.Namespace, rows: list[list[float]], durations: Sequence[float]) -> None:
    """Draw the model's shares over the number of ranks, and what was measured as points."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    columns = np.array(rows).T
    for mean, shares in zip(durations, columns[1:], strict=True):
        axes.plot(columns[0], shares, label=f"model, episodes of {mean:g} s")
    for number, ((cores, per_rank), points) in enumerate(measured_points(options.measured).items()):
        label = f"measured on {cores} cores, {per_rank} episodes a rank"
        axes.scatter(*zip(*points, strict=True), color="black", marker="o^sv"[number % 4], label=label)
    axes.set(xscale="log", xlabel="ranks", ylabel="of the ideal", ylim=(0, 1.02))
    axes.set_xticks(columns[0], [f"{int(count):,}" for count in columns[0]], minor=False)
    axes.set_title(f"rank 0 takes {options.answer:g} µs an answer, {options.per_rank} episodes a rank")
    axes.legend(fontsize="small")
    figure.savefig(options.plot)


def measured_points(path: Path | None) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Return ranks and shares from the CSV of measure, by the cores and the episodes a rank."""
    points: dict[tuple[str, str], list[tuple[float, float]]] = {}
    if path:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                found = points.setdefault((row["cores"], row["per_rank"]), [])
                found.append((float(row["ranks"]), float(row["of_ideal"])))
    return points


def write(path: Path | None, mode: str, rows: Sequence[Sequence[object]]) -> None:
    """Write rows as CSV, if there is a path; mode a adds them."""
    if path:
        with path.open(mode, newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure")
    one.add_argument("--ranks", type=int, nargs="+", default=[32, 64, 128, 256])
    one.add_argument("--rate", type=float, default=600.0)
    one.add_argument("--mean", type=float, help="seconds of an episode, in the mean")
    one.add_argument("--repeats", type=int, default=3)
    two = commands.add_parser("model")
    for command in (one, two):
        command.add_argument("--per-rank", type=int, default=16)
        command.add_argument("--answer", type=float, default=50.0, help="microseconds, of the model")
        command.add_argument("--csv", type=Path)
    two.add_argument("--plot", type=Path)
    two.add_argument("--measured", type=Path, help="the CSV of measure")
    three = commands.add_parser("worker")
    three.add_argument("--mean", type=float)
    three.add_argument("--per-rank", type=int)
    three.add_argument("--repeats", type=int)
    options = parser.parse_args()
    if options.command == "worker":
        worker(options.mean, options.per_rank, options.repeats)
    else:
        {"measure": measure, "model": model}[options.command](options)


if __name__ == "__main__":
    main()
