"""The protocol of policies: from a flat vector of parameters and observations to actions."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.errors import UserError
from mpi_es.strategies.low_rank import Factored, Layout

Actions = NDArray[Any]
Memory = NDArray[Any] | None  # rows (k, …) that can be indexed and concatenated; None for no memory
Weights = Any  # parameters (k, dim) as `act` uses them, prepared once before many steps
Shapes = dict[str, tuple[int, ...]]  # of the parameters, by torch's names and in torch's order


@dataclass(frozen=True)
class Attention:
    """The attention of a network: square patches of a picture, numbered row by row."""

    importance: NDArray[np.float32]  # (patches,)
    chosen: NDArray[np.int64]  # (top_k,) the most important patches, highest first
    patch: int  # pixels of a side
    stride: int  # pixels from one patch to the next


class Policy(Protocol):
    """k networks of one shape, evaluated side by side.

    The action of a row must be bit-identical whatever the other rows are and however many there are:
    this makes a run independent of the number of ranks.
    """

    shapes: Shapes
    to_actions: Callable[[NDArray[np.float32]], Actions]  # from outputs (k, n)
    # One network's compiled step, or None: (weights, observation, memory, scratch, outputs).
    kernel: Any = None
    squashed: bool = False  # whether the network's outputs are in [-1, 1] already
    layout: Layout | None = None  # of the factors that `unpack_factors` takes; None: it takes none

    @property
    def dim(self) -> int:
        """The number of parameters."""
        return sum(map(prod, self.shapes.values()))

    @property
    def parts(self) -> dict[str, slice]:
        """The slices of layers and parameters by name, each before its own parts."""
        return parts_of(self.shapes)

    @property
    def buffers(self) -> str:
        """A digest of the numbers that are no parameters, which no file holds; empty without any."""
        return ""

    def whole(self, parameters: Candidate) -> Candidate:
        """Return the parameters (dim,) together with the fixed ones, if there are any."""
        return parameters

    def as_candidate(self, parameters: Candidate) -> Candidate | Factored:
        """Return an agent's parameters (dim,) as the candidate that is evaluated."""
        return parameters if self.layout is None else self.layout.centre(parameters)

    def one_thread(self) -> AbstractContextManager[None]:
        """Return a context in which torch, if the policy uses it, has one thread."""
        return nullcontext()

    def apart(self) -> AbstractContextManager[None]:
        """Return a context with one thread that also restores torch's generator at its end."""
        return nullcontext()

    def initial(self, seed: int) -> Candidate:
        """Return torch's default initialisation, (dim,), drawn from the run's seed."""
        ...

    def unpack(self, parameters: NDArray[np.float32]) -> Weights:
        """Return parameters (k, dim) in the form that `act` computes with."""
        ...

    def unpack_factors(self, centre: Candidate, numbers: NDArray[np.float32]) -> Weights:
        """Return k candidates of low rank, numbers (k, size) around a centre (dim,), as `act` uses them."""
        raise AssertionError("this policy takes no factors")

    def initial_memory(self, k: int) -> Memory:
        """Return the memory of k networks at an episode's start."""
        ...

    def start(self, episode_seed: int, candidate: int) -> Memory:
        """Return the memory (1,) at the start of an episode; the arguments seed all that is random in it."""
        return self.initial_memory(1)

    def act(self, weights: Weights, observations: NDArray[Any], memory: Memory) -> tuple[Actions, Memory]:
        """Return the actions (k, …) for observations (k, …), and the memory afterwards."""
        outputs, memory = self.outputs(weights, observations, memory)
        return self.to_actions(outputs), memory

    def outputs(
        self, weights: Weights, observations: NDArray[Any], memory: Memory
    ) -> tuple[NDArray[np.float32], Memory]:
        """Return the network's outputs (k, n), before they become actions, and the memory afterwards."""
        ...

    def look(self, observation: NDArray[Any]) -> Attention | None:
        """Return the attention of the network that acted last; None if it has none."""
        return None

    def mistake(self) -> UserError | None:
        """Return what numba refuses in a user's kernel; None if it refuses nothing."""
        return None

    def module(self) -> Any:
        """Return the same network as a torch module with parameters in the same flat order.

        It is called as module(observations) -> outputs, or as module(observations, memory) -> (outputs,
        memory) with memory None at an episode's start.
        """
        ...


def parts_of(shapes: Shapes) -> dict[str, slice]:
    """Return the slice of each part of the parameters by name, in their order: a.b.c is within a.b and a."""
    parts: dict[str, slice] = {}
    end = 0
    for name, shape in shapes.items():
        start, end = end, end + prod(shape)
        for part in accumulate(name.split("."), "{}.{}".format):
            parts[part] = slice(parts[part].start if part in parts else start, end)
    return parts


def split(parameters: NDArray[np.float32], shapes: Shapes) -> dict[str, NDArray[np.float32]]:
    """Return each parameter of k networks, (k, rows, columns), from all of them, (k, dim).

    A bias has one column. It is copied: adding rows that are not contiguous costs a sixth of a step.
    """
    arrays, end = {}, 0
    for name, shape in shapes.items():
        start, end = end, end + prod(shape)
        part = parameters[:, start:end]
        part = part if len(shape) > 1 else np.ascontiguousarray(part)
        arrays[name] = part.reshape(len(parameters), shape[0], prod(shape[1:]))
    return arrays


def within(name: str, part: str) -> bool:
    """Return whether a part or parameter is `part` or within it; all are within ""."""
    return not part or f"{name}.".startswith(f"{part}.")
