"""Own torch modules: networks side by side (mpi_es.policies.lockstep), and one after the other.

python benchmarks/lockstep.py [--repeats 31] [--core 0]

Microseconds of CPU time for a network's answer, medians; the two ways take turns, in one thread on one core.
All networks have weights of their own, memories are those of an episode under way. "vmap" is torch.func.vmap
of the module itself in a full tile, with cells by their equations; lockstep traces that to a program. 16 is
the default of --envs-per-rank. The limits of lockstep's sizes are lifted; "-" marks what they refuse.

    mlp W       8-W-W-4, tanh
    cells       LSTMCell(8, 16), GRUCell(8, 16) and a linear layer
    norms       24-64-64-4 with LayerNorm and GroupNorm, SELU
    pictures    Conv2d 3-8-8 of 3x3, stride 2, on 16x16 pixels, uint8, and a linear layer
    atari       pytorch-es: 4 x Conv2d(32) of 3x3, stride 2, on 1x42x42, SELU, LSTMCell(288, 256), linear
    pixels      PyTorch-ES: Conv2d 3-16-32-64-128-256-6 of 4x4, stride 2, batch norm, LeakyReLU, on 3x128x128
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.func import functional_call, vmap

from mpi_es.policies import lockstep
from mpi_es.policies.operations import Cells
from mpi_es.policies.torch_module import ModulePolicy

TILE = lockstep.TILE
ROWS = (1, 4, 8, 16, 32)
WIDTHS = (16, 64, 96, 128, 192, 256)


class Recurrent(nn.Module):
    """Layers, a recurrent cell and a linear layer."""

    def __init__(self, layers: nn.Module, cell: nn.RNNCellBase, outputs: int) -> None:
        super().__init__()
        self.layers, self.cell, self.out = layers, cell, nn.Linear(cell.hidden_size, outputs)

    def forward(self, observations: Tensor, memory: Any) -> tuple[Tensor, Any]:
        """Return the outputs and the memory."""
        memory = self.cell(self.layers(observations), memory)
        return self.out(memory[0] if isinstance(memory, tuple) else memory), memory


class Pictures(nn.Sequential):
    """A convolutional network that reads bytes."""

    def forward(self, observations: Tensor) -> Tensor:
        """Return the outputs."""
        return super().forward(observations.permute(0, 3, 1, 2).float() / 255)


def mlp(width: int) -> nn.Module:
    """Return the usual network."""
    layers = [nn.Linear(8, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 4)]
    return nn.Sequential(*layers)


def norms() -> nn.Module:
    """Return a network with normalised layers."""
    first = [nn.Linear(24, 64), nn.LayerNorm(64), nn.SELU()]
    return nn.Sequential(*first, nn.Linear(64, 64), nn.GroupNorm(8, 64), nn.SELU(), nn.Linear(64, 4))


def pictures() -> nn.Module:
    """Return a small network for small pictures."""
    first = [nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.ReLU(), nn.Flatten()]
    return Pictures(*first, nn.Linear(128, 4))


def atari() -> nn.Module:
    """Return pytorch-es's network for Atari: 588,710 parameters."""
    layers: list[nn.Module] = []
    for channels in (1, 32, 32, 32):
        layers += [nn.Conv2d(channels, 32, 3, 2, 1), nn.SELU()]
    return Recurrent(nn.Sequential(*layers, nn.Flatten()), nn.LSTMCell(288, 256), 6)


def pixels() -> nn.Module:
    """Return PyTorch-ES's network for pixels."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise((3, 16, 32, 64, 128, 256)):
        layers += [
            nn.Conv2d(inputs, outputs, 4, 2, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.LeakyReLU(0.2),
        ]
    return nn.Sequential(*layers, nn.Conv2d(256, 6, 4, 1, 0, bias=False), nn.Flatten())


def floats(*shape: int) -> spaces.Box:
    """Return a space of vectors or pictures of floats."""
    return spaces.Box(-1, 1, shape, np.float32)


CASES: dict[str, tuple[Callable[[], nn.Module], Any, int]] = {
    **{f"mlp {width}": (partial(mlp, width), floats(8), 4) for width in WIDTHS},
    "lstm": (lambda: Recurrent(nn.Identity(), nn.LSTMCell(8, 16), 4), floats(8), 4),
    "gru": (lambda: Recurrent(nn.Identity(), nn.GRUCell(8, 16), 4), floats(8), 4),
    "norms": (norms, floats(24), 4),
    "pictures": (pictures, spaces.Box(0, 255, (16, 16, 3), np.uint8), 4),
    "atari": (atari, floats(1, 42, 42), 6),
    "pixels": (pixels, floats(3, 128, 128), 6),
}


def policy_of(name: str) -> ModulePolicy:
    """Return the policy of a case."""
    make, space, outputs = CASES[name]
    return ModulePolicy(name, lambda *_: make(), space, spaces.Discrete(outputs))


def step_of(policy: ModulePolicy, rows: int) -> Callable[[], Any]:
    """Return a step of so many networks in the midst of their episodes."""
    draw = np.random.default_rng(0)
    weights = policy.unpack(policy.initial(0) + 0.05 * draw.standard_normal((rows, policy.dim), np.float32))
    space = policy.spaces[0]
    space.seed(0)
    observations = np.stack([space.sample() for _ in range(rows)])
    _, memory = policy.outputs(weights, observations, policy.initial_memory(rows))
    return lambda: policy.outputs(weights, observations, memory)


def vmap_of(policy: ModulePolicy) -> Callable[[], Any]:
    """Return a step of TILE networks by vmap of the module alone."""
    module = policy.module().requires_grad_(False)
    draw = torch.Generator().manual_seed(0)
    parameters = {
        name: p + 0.05 * torch.randn((TILE, *p.shape), generator=draw)
        for name, p in module.named_parameters()
    }
    policy.spaces[0].seed(0)
    seen = torch.from_numpy(np.stack([policy.spaces[0].sample()[None] for _ in range(TILE)]))
    remembered: tuple[Any, ...] = ()
    if isinstance(module, Recurrent):
        with torch.inference_mode():
            memory = module(seen[0], None)[1]
        leaves = memory if isinstance(memory, tuple) else (memory,)
        stacked = tuple(torch.stack([leaf] * TILE) for leaf in leaves)
        remembered = (stacked if isinstance(memory, tuple) else stacked[0],)
    mapped = vmap(lambda p, *inputs: functional_call(module, p, inputs))

    def step() -> Any:
        with torch.inference_mode(), Cells():
            return mapped(parameters, seen, *remembered)

    return step


def timed(steps: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Return the median microseconds of each step; the steps take turns."""
    loops = []
    for step in steps:
        begin = time.process_time()
        for _ in range(3):
            step()
        loops.append(max(1, round(0.006 / (time.process_time() - begin))))  # some 2 ms a time
    seconds: list[list[float]] = [[] for _ in steps]
    for _ in range(repeats):
        for step, count, mine in zip(steps, loops, seconds, strict=True):
            begin = time.process_time()
            for _ in range(count):
                step()
            mine.append((time.process_time() - begin) / count)
    return [1e6 * float(np.median(mine)) for mine in seconds]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=31)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})
    warnings.simplefilter("ignore")
    print(
        "network   parameters  one after the other  side by side, of a tile with this many networks      vmap"
    )
    print(f"                          16 of them{''.join(f'{rows:10d}' for rows in ROWS)}        32")
    limits = lockstep.LARGEST, lockstep.MOST
    for name in CASES:
        lockstep.LARGEST, lockstep.MOST = limits
        mark = " " if policy_of(name).lockstep else "-"
        lockstep.LARGEST = lockstep.MOST = 10**12
        policy, alone = policy_of(name), policy_of(name)
        alone.lockstep = None
        steps = [step_of(alone, 16), *(step_of(policy, rows) for rows in ROWS), vmap_of(alone)]
        times = timed(steps, options.repeats)
        each = [t / count for t, count in zip(times, (16, *ROWS, TILE), strict=True)]
        middle = "".join(f"{t:10.1f}" for t in each[1:-1])
        print(f"{name:8s}{mark} {policy.dim:10d}  {each[0]:20.1f}  {middle}{each[-1]:10.1f}", flush=True)


if __name__ == "__main__":
    main()
