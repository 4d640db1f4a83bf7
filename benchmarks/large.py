"""What a generation costs with 10 million parameters: noise, update and memory, on 1, 2 and 4 ranks.

python benchmarks/large.py [NOISE …] [--generations 3]

256 candidates of a torch module answer for one step of Pendulum each, so that "evaluate" is mostly the making
of candidates. Seconds are medians over the generations of a run but the first; memory is the largest that a
rank has had. Ranks that share cores share them.
"""

import argparse
import json
import resource
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import launching
import numpy as np
from mpi4py import MPI
from torch import nn

import mpi_es

WIDTH = 3160  # of two layers: ten million parameters
RANKS = (1, 2, 4)
NOISES: dict[str, dict[str, Any]] = {
    "full": {},
    "rank 1": {"noise": "low-rank"},
}


class Wide(nn.Module):
    """Two layers."""

    def __init__(self, observation_space, action_space) -> None:
        super().__init__()
        sizes = (observation_space.shape[0], WIDTH, WIDTH, action_space.shape[0])
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(sizes))

    def forward(self, observations):
        """Return the outputs."""
        for layer in self.layers[:-1]:
            observations = layer(observations).tanh()
        return self.layers[-1](observations)


def worker(noise: str, generations: int, place: str) -> None:
    """Evolve on all ranks; rank 0 prints a line of JSON."""
    mpi_es.evolve_policy(
        "mpi_es/Pendulum-v1",
        Wide,
        strategy="openai_es",
        **NOISES[noise],
        population_size=256,
        episode_cap=1,
        envs_per_rank=32,
        num_eval_rollouts=1,
        max_iter=1 + generations,
        console="silent",
        tensorboard=False,
        run_dir=place,
    )
    largest = MPI.COMM_WORLD.reduce(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, MPI.MAX)
    if mpi_es.rank() == 0:
        timing = mpi_es.load_run(place)["timing"]
        medians = {part: float(np.median(timing[part][1:])) for part in ("ask", "evaluate", "tell")}
        print(json.dumps(medians | {"memory": largest}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("noises", nargs="*", default=[*NOISES], help=" | ".join(NOISES))
    parser.add_argument("--generations", type=int, default=3)
    parser.add_argument("--worker", nargs=2)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker[0], options.generations, options.worker[1])
        return
    print("| noise | ranks | ask, s | evaluate, s | tell, s | MiB of a rank |")
    print("| --- | --- | --- | --- | --- | --- |")
    for noise in options.noises:
        for ranks in RANKS:
            with tempfile.TemporaryDirectory() as place:
                words = ["--generations", options.generations, "--worker", noise, Path(place, "run")]
                (found,) = launching.records(ranks, __file__, *words)
            times = " | ".join(f"{found[part]:.2f}" for part in ("ask", "evaluate", "tell"))
            print(f"| {noise} | {ranks} | {times} | {found['memory']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
