"""Microseconds of a candidate's answer with a torch module: full and of low rank, one by one and in one call.

python benchmarks/batched_module.py [--repeats 5]

The seconds are those of the processor, on one core. Full networks in one call are those of torch.func.vmap,
each with parameters of its own, whether or not the suite would choose that.
"""

import argparse
import time
from collections.abc import Callable
from itertools import chain, pairwise
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import nn
from torch.func import functional_call, vmap

from mpi_es.papers.atari_networks import ConvolutionLSTM, Stacked
from mpi_es.policies.operations import Cells
from mpi_es.policies.tiles import TILE
from mpi_es.policies.torch_module import ModulePolicy
from mpi_es.strategies.base import Seeded
from mpi_es.strategies.low_rank import LowRankNoise
from mpi_es.strategies.noise import ComputedNoise

ACTIONS = spaces.Discrete(6)


def multilayer(*widths: int) -> Callable[..., nn.Module]:
    """Return what makes linear layers of these widths with tanh between them."""

    def build(*_: Any) -> nn.Module:
        layers = chain.from_iterable((nn.Linear(*pair), nn.Tanh()) for pair in pairwise(widths))
        return nn.Sequential(*[*layers][:-1])

    return build


NETWORKS = {
    "mlp, two layers of 108": (multilayer(64, 108, 108, 6), (64,), np.float32),
    "mlp, two layers of 412": (multilayer(64, 412, 412, 6), (64,), np.float32),
    "mlp, two layers of 1,270": (multilayer(64, 1270, 1270, 6), (64,), np.float32),
    "Pong's, four convolutions and an LSTM": (ConvolutionLSTM, (1, 42, 42), np.float32),
    "DQN's, three convolutions": (Stacked, (4, 84, 84), np.uint8),
}


def microseconds(answer: Callable[[], Any], networks: int, repeats: int) -> float:
    """Return those of one network, in the fastest of several calls."""
    answer()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        answer()
        times.append(time.process_time() - begin)
    return min(times) / networks * 1e6


def measured(name: str, repeats: int) -> tuple[int, list[float]]:
    """Return a network's parameters, and the times of its three ways to answer."""
    network, shape, dtype = NETWORKS[name]
    space = spaces.Box(0, 255 if dtype == np.uint8 else 1, shape, dtype)
    space.seed(0)
    policy = ModulePolicy(name, network, space, ACTIONS, rank=1)
    assert policy.layout, policy.description
    noise = LowRankNoise(ComputedNoise(0, policy.layout.size), policy.layout, keeps_factors=True)
    centre = policy.initial(0)
    population = Seeded(centre, 0.05, noise.keys(0, TILE // 2))
    seen, memory = np.stack([space.sample() for _ in range(TILE)]), policy.initial_memory(TILE)

    rows = torch.from_numpy(np.stack([population.candidate(i, noise) for i in range(TILE)]))
    module = policy.module().requires_grad_(False)
    parameters = dict(module.named_parameters())
    parts = rows.split([parameter.numel() for parameter in parameters.values()], dim=1)
    stacked = {
        key: part.reshape(TILE, *parameter.shape).contiguous()
        for (key, parameter), part in zip(parameters.items(), parts, strict=True)
    }
    remembers = isinstance(module, ConvolutionLSTM)

    def one(own: dict[str, torch.Tensor], observation: torch.Tensor) -> torch.Tensor:
        with Cells():
            inputs = (observation, (torch.zeros(1, 256),) * 2) if remembers else (observation,)
            answer = functional_call(module, own, inputs)
        outputs: torch.Tensor = answer[0] if remembers else answer
        return outputs

    policy.batched = None  # of small networks, which would answer in one call
    alone = policy.unpack(rows.numpy())
    factored = policy.unpack_factors(
        centre, np.stack([noise.candidate(population, i).numbers for i in range(TILE)])
    )
    batch, observations = vmap(one), torch.from_numpy(seen)[:, None]
    with torch.inference_mode():
        ways: list[Callable[[], Any]] = [
            lambda: policy.outputs(alone, seen, memory),
            lambda: batch(stacked, observations),
            lambda: policy.outputs(factored, seen, memory),
        ]
        return policy.dim, [microseconds(way, TILE, repeats) for way in ways]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| Network | parameters | full, one by one | full, one call | low rank, one call | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in NETWORKS:
        dim, (alone, together, factored) = measured(name, options.repeats)
        times = f"{alone:.0f} | {together:.0f} | {factored:.0f} | {alone / factored:.1f}"
        print(f"| {name} | {dim:,} | {times} |", flush=True)


if __name__ == "__main__":
    main()
