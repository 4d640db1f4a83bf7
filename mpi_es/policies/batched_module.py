"""The networks of a user's torch module side by side: vmap of the module, traced to a program of operations.

A row of the outputs must be bit-identical whatever its neighbours, their number and its place. So a program
always computes TILE rows, with unused ones padded, and consists only of operations that treat all rows of a
tile alike (operations.py). A module that needs other operations is refused, and so is one whose rows fail a
test. This decision depends on the module, torch and the type of CPU or GPU, never on the number of networks:
batched and single networks round differently, and a run must not change from one to the other.
"""

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, functionalize, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from mpi_es.errors import one_line
from mpi_es.policies import operations
from mpi_es.policies.factored import FactoredParameters
from mpi_es.policies.tiles import TILE, OwnParameters, Refused, Tile, flat, padded

# Time of 16 networks together, relative to one by one: 0.5 with 18,000 parameters, 0.7 to 1.2 with 40,000 to
# 70,000. A convolution reuses its parameters, so multiplications count too: 0.54 with 258,000 of them, 0.8
# with 1.2 million.
LARGEST = 20_000  # parameters
MOST = 250_000  # multiplications of a network
TRIALS = 8  # tests of the rows at construction, some milliseconds each …
AFFORDED = 800_000_000  # … fewer if a network's multiplications in all of them would exceed this

Content = tuple[Tensor, ...]  # the tensors of a module's memory, each as the module returned it


class BatchedModule:
    """A module's program for TILE networks.

    Args:
        module: in evaluation mode; it is left as it is.
        observe: draws an observation (1, *shape) as the module reads it.
        remembers: whether the module takes a memory.
        rank: of the factors in which the networks differ from a centre; 0: each has its own parameters.
    """

    def __init__(
        self, module: nn.Module, observe: Callable[[], Tensor], remembers: bool, rank: int = 0
    ) -> None:
        size = sum(parameter.numel() for parameter in module.parameters())
        if not rank and size > LARGEST:
            raise Refused(
                f"{size} parameters are more than {LARGEST}, the limit up to which a batch is faster"
            )
        try:
            self._module = copy.deepcopy(module)  # a forward may change the module, here with tensors of vmap
        except Exception as error:
            raise Refused(f"it cannot be copied: {one_line(error)}") from error
        parameters = dict(self._module.named_parameters())
        self._centre = flat(parameters)
        self._parameters = FactoredParameters(parameters, rank) if rank else OwnParameters(parameters)
        self._buffers = dict(self._module.named_buffers())
        self._remembers = remembers
        self._work = 0  # multiplications of a network, in the larger of its programs
        attributes = _attributes(self._module)
        try:
            self._build(observe)
        except Refused:
            raise
        except Exception as error:  # raised by the user's module, which now reads numbers other than zeros
            raise Refused(f"it failed in a test: {one_line(error)}") from error
        if _attributes(self._module) != attributes:
            raise Refused("its forward changes its attributes")

    def _build(self, observe: Callable[[], Tensor]) -> None:
        """Trace the programs of an episode's first step and of the others, and test their rows."""
        with torch.inference_mode(), torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)
            self._begin, structure = self._trace(observe, None)
            self._go_on = self._begin
            if self._remembers:
                self._go_on, later = self._trace(observe, self._module(observe(), None)[1])
                if later != structure:
                    raise Refused("its memory changes its structure")
            self._check_rows(observe)

    def unpack(self, rows: Tensor, centre: Tensor | None = None) -> list[Tile]:
        """Return the tiles of parameters (k, dim), or of factors (k, size) around a centre."""
        return self._parameters.unpack(rows, centre)

    def __call__(
        self, tiles: list[Tile], observations: Tensor, contents: Sequence[Content | None]
    ) -> tuple[Tensor, list[Content | None]]:
        """Return the outputs (k, n) and the memories; a memory is None at an episode's start."""
        outputs: list[Tensor] = []
        after: list[Content | None] = []
        for i, tile in enumerate(tiles):
            rows = slice(i * TILE, (i + 1) * TILE)
            some_outputs, some_after = self._answer(tile, observations[rows], contents[rows])
            outputs.append(some_outputs)
            after += some_after
        return torch.cat(outputs), after

    def _answer(
        self, tile: Tile, observations: Tensor, contents: Sequence[Content | None]
    ) -> tuple[Tensor, list[Content | None]]:
        """Return the outputs and memories of at most TILE rows."""
        k = len(observations)
        given = [*tile, *self._buffers.values(), padded(observations[:, None])]
        fresh = [content is None for content in contents]
        if not self._remembers or all(fresh):
            answer = self._begin(*given)
        else:
            empty = tuple(map(torch.zeros_like, next(content for content in contents if content is not None)))
            known = [content or empty for content in contents] + [empty] * (TILE - k)
            answer = self._go_on(*given, *map(torch.stack, zip(*known, strict=True)))
            if any(fresh):  # these rows come from the first step's program
                begun = torch.tensor(fresh + [False] * (TILE - k), device=observations.device)
                pairs = zip(self._begin(*given), answer, strict=True)
                answer = [torch.where(begun.view(-1, *[1] * (b.ndim - 1)), a, b) for a, b in pairs]
        if not self._remembers:
            return answer[0][:k, 0], [None] * k
        after: list[Content | None] = []
        after += zip(*(leaf.unbind()[:k] for leaf in answer[1:]), strict=True)
        return answer[0][:k, 0], after

    def _trace(self, observe: Callable[[], Tensor], memory: Any) -> tuple[Callable[..., Any], Any]:
        """Return the program of a tile, and the shapes and structure of the memory that it returns."""
        leaves, structure = _leaves(memory)
        axes = self._parameters.axes
        count, buffers = len(axes), len(self._buffers)
        after: list[Any] = []

        def network(*tensors: Tensor) -> list[Tensor]:
            tile, others = tensors[:count], tensors[count:]
            named = self._parameters.named(tile) | dict(zip(self._buffers, others, strict=False))
            observation, *held = tensors[count + buffers :]
            known = pytree.tree_unflatten(held, structure) if held else None
            inputs = [observation, known][: 1 + self._remembers]
            with self._parameters.products(tile), operations.Cells():
                answer: Any = functional_call(self._module, named, tuple(inputs))
            outputs, memory = answer if self._remembers else (answer, None)
            returned, after_structure = _leaves(memory)
            if self._remembers and not returned:
                raise Refused("its memory does not consist of tensors")
            after[:] = [after_structure, *((leaf.shape, leaf.dtype) for leaf in returned)]
            return [outputs, *returned]

        [stacked] = self._parameters.unpack(self._parameters.own().expand(TILE, -1), self._centre)
        others = [torch.stack([tensor] * TILE) for tensor in (observe(), *leaves)]
        own = [buffer.clone() for buffer in self._buffers.values()]  # tracing also executes
        in_dims = (*axes, *[None] * buffers, *[0] * len(others))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about slow operations, which the program does not keep
                mapped = functionalize(vmap(network, in_dims=in_dims), remove="mutations")
                program = make_fx(mapped)(*stacked, *own, *others)
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"torch.func.vmap refuses it: {one_line(error).split('. ')[0]}") from error
        program.graph.eliminate_dead_code()
        complaint = operations.complaint(program.graph, TILE, shares=self._parameters.shares)
        if complaint:
            raise Refused(complaint)
        work = operations.multiplications(program.graph) // TILE
        if not self._parameters.shares and work > MOST:
            raise Refused(
                f"{work} multiplications are more than {MOST}, the limit up to which a batch is faster"
            )
        self._work = max(self._work, work)
        return operations.compiled(program), after

    def _check_rows(self, observe: Callable[[], Tensor]) -> None:
        """Compare rows of a tile that must be equal, also with the outputs of the module itself."""
        own = self._parameters.own()
        trials = max(1, min(TRIALS, AFFORDED // max(1, self._work)))
        for trial in range(trials):
            row = own + 0.1 * torch.randn(len(own)).to(own)
            inputs = observe(), observe()
            alone = self._two_steps(row[None], [[seen] for seen in inputs])
            equal = self._two_steps(row.expand(TILE, -1), [[seen] * TILE for seen in inputs])
            place = TILE - 1 - trial * (TILE - 1) // (TRIALS - 1)
            among = own + torch.randn(TILE, len(own)).to(own)
            among[place] = row
            seen = [[observe() for _ in range(TILE)] for _ in inputs]
            for given, mine in zip(seen, inputs, strict=True):
                given[place] = mine
            mixed = self._two_steps(among, seen)[place]
            if any(other.numpy().tobytes() != alone[0].numpy().tobytes() for other in (*equal, mixed)):
                raise Refused("its rows depend on their place or neighbours")
            if not torch.allclose(alone[0], self._itself(row, inputs), rtol=1e-3, atol=1e-4, equal_nan=True):
                raise Refused("its outputs differ under torch.func.vmap")

    def _two_steps(self, rows: Tensor, seen: list[list[Tensor]]) -> Tensor:
        """Return all outputs and memories (k, …) of the program in an episode's first two steps."""
        tiles = self.unpack(rows, self._centre)
        first, memory = self(tiles, torch.cat(seen[0]), [None] * len(rows))
        second, after = self(tiles, torch.cat(seen[1]), memory)
        kept = [_numbers([*(content or ())]) for content in after]
        return torch.cat([first.double().cpu(), second.double().cpu(), torch.stack(kept)], dim=1)

    def _itself(self, row: Tensor, inputs: Sequence[Tensor]) -> Tensor:
        """Return the same numbers from the module itself, in the same order."""
        names = [name for name, _ in self._module.named_parameters()]
        named = dict(zip(names, self._parameters.whole(row), strict=True))

        def answer(*inputs: Any) -> Any:
            return functional_call(self._module, named, inputs)

        if not self._remembers:
            return _numbers([answer(seen) for seen in inputs])
        first, memory = answer(inputs[0], None)
        second, after = answer(inputs[1], memory)
        return _numbers([first, second, *pytree.tree_leaves(after)])


def _leaves(memory: Any) -> tuple[list[Tensor], Any]:
    """Return the tensors of a memory, and its structure."""
    if memory is None:
        return [], None
    leaves, structure = pytree.tree_flatten(memory)
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise Refused("its memory does not consist of tensors")
    return leaves, structure


def _numbers(tensors: Sequence[Tensor]) -> Tensor:
    """Return all numbers of some tensors in one vector on the CPU."""
    return torch.cat([torch.zeros(0, dtype=torch.float64), *(t.flatten().double().cpu() for t in tensors)])


def _attributes(module: nn.Module) -> dict[str, str]:
    """Return the attributes of all layers as text: a forward might count or collect in them."""
    # A program that changes parameters or buffers is refused for its operations.
    hidden = ("_parameters", "_buffers", "_modules")
    return {
        name: repr({key: value for key, value in vars(layer).items() if key not in hidden})
        for name, layer in module.named_modules()
    }
