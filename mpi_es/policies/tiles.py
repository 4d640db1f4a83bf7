"""The parameters of networks that run side by side, always TILE of them."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch import Tensor, nn

# Torch's loops take up to 32 floats at a time (two vectors of AVX-512) and compute the rest of an array with
# other instructions, which round differently: with 8 or 16 rows the last ones differ after sigmoid, SELU, pow
# …
TILE = 32

Tile = list[Tensor]  # the parameters of TILE networks
Parameters = dict[str, nn.Parameter]  # of a module, by name


class Refused(Exception):
    """The reason why a module's networks are evaluated one after another."""


class OwnParameters:
    """A tile's tensors, and one network's parameters by name; every network has its own."""

    shares = False  # whether networks share tensors

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        # Of a tile's tensors: 0 if each network has its own, None if all share one.
        self.axes: list[int | None] = [0] * len(parameters)

    def own(self) -> Tensor:
        """Return the module's parameters, (dim,)."""
        return flat(self._parameters)

    def unpack(self, rows: Tensor, centre: Tensor | None) -> list[Tile]:
        """Return the tiles of parameters (k, dim); they lie around no centre."""
        return [self._tile(some) for some in rows.split(TILE)]

    def named(self, tensors: Iterable[Tensor]) -> dict[str, Tensor]:
        """Return the tensors by the parameters' names."""
        return dict(zip(self._parameters, tensors, strict=True))

    def products(self, tensors: Iterable[Tensor]) -> AbstractContextManager[Any]:
        """Return a context that changes nothing."""
        return nullcontext()

    def whole(self, row: Tensor) -> list[Tensor]:
        """Return the parameters in their shapes."""
        return [stacked[0] for stacked in self._tile(row[None])]

    def _tile(self, rows: Tensor) -> Tile:
        parts = rows.split([parameter.numel() for parameter in self._parameters.values()], dim=1)
        return [
            padded(part.reshape(-1, *parameter.shape).to(parameter.dtype))
            for part, parameter in zip(parts, self._parameters.values(), strict=True)
        ]


def padded(rows: Tensor) -> Tensor:
    """Return a tile whose first rows are these; the others are zeros."""
    tile = rows.new_zeros(TILE, *rows.shape[1:])
    tile[: len(rows)] = rows
    return tile


def flat(parameters: Parameters) -> Tensor:
    """Return all parameters in one vector."""
    return nn.utils.parameters_to_vector(parameters.values()).float()
