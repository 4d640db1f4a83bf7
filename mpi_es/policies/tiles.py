"""The parameters of networks that run side by side, always TILE of them."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from torch import Tensor, nn

# Torch's loops take up to 32 floats at a time (two vectors of AVX-512) and compute the rest of an array by
# other instructions, which round otherwise: with 8 or 16 rows the last ones differ after sigmoid, SELU, pow …
TILE = 32

Tile = list[Tensor]  # what TILE networks compute with
Parameters = dict[str, nn.Parameter]  # of a module, by their names


class Refused(Exception):
    """Why a module's networks are evaluated one after the other."""


class TileParameters(Protocol):
    """How a tile's tensors follow from the numbers of its networks, and a module's parameters from these."""

    axes: list[int | None]  # of a tile's tensors: 0 where each network has one, None where all share it
    shares: bool  # whether they share any

    def own(self) -> Tensor:
        """Return the numbers (n,) of the module's own network."""
        ...

    def unpack(self, rows: Tensor, centre: Tensor | None) -> list[Tile]:
        """Return the tiles of networks that have numbers (k, n).

        Args:
            centre: (dim,) parameters to which the numbers are added, where they are not the parameters.
        """
        ...

    def named(self, tensors: Iterable[Tensor]) -> dict[str, Tensor]:
        """Return one network's parameters by their names, from its part of a tile's tensors."""
        ...

    def products(self, tensors: Iterable[Tensor]) -> AbstractContextManager[Any]:
        """Return the context in which the module computes with these tensors."""
        ...

    def whole(self, row: Tensor) -> list[Tensor]:
        """Return the parameters of the network that has these numbers (n,) around the module's own."""
        ...


class OwnParameters(TileParameters):
    """Every network has parameters of its own."""

    shares = False

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self.axes = [0] * len(parameters)

    def own(self) -> Tensor:
        """Return the module's parameters, (dim,)."""
        return flat(self._parameters)

    def unpack(self, rows: Tensor, centre: Tensor | None) -> list[Tile]:
        """Return the tiles of parameters (k, dim)."""
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
            filled(part.reshape(-1, *parameter.shape).to(parameter.dtype))
            for part, parameter in zip(parts, self._parameters.values(), strict=True)
        ]


def filled(rows: Tensor) -> Tensor:
    """Return a tile whose first rows are these."""
    tile = rows.new_zeros(TILE, *rows.shape[1:])
    tile[: len(rows)] = rows
    return tile


def flat(parameters: Parameters) -> Tensor:
    """Return all parameters in one vector."""
    return nn.utils.parameters_to_vector(parameters.values()).float()
