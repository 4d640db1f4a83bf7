"""Networks that share their matrices except for low-rank factors: x W^T + (x B) A^T, never W + A B^T.

One product with W serves all networks of a tile; the products with the factors are small.
"""

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from mpi_es.policies.tiles import TILE, Parameters, Refused, Tile, flat, padded
from mpi_es.strategies.low_rank import Layout, Part


class FactoredParameters:
    """For each matrix a tile has three tensors: W, A^T (TILE, rank, a) and B^T (TILE, rank, b); else one.

    A network's numbers are those of a strategies.low_rank.Factored.
    """

    shares = True

    def __init__(self, parameters: Parameters, rank: int) -> None:
        self._parameters = parameters
        self.layout = Layout([tuple(parameter.shape) for parameter in parameters.values()], rank)
        self._parts = [*zip(parameters.items(), self.layout.parts, strict=True)]
        self.axes: list[int | None] = []
        for part in self.layout.parts:
            self.axes += [None, 0, 0] if part.columns else [0]

    def own(self) -> Tensor:
        """Return zeros, (size,): the module's own network is the centre."""
        return flat(self._parameters).new_zeros(self.layout.size)

    def unpack(self, rows: Tensor, centre: Tensor | None) -> list[Tile]:
        """Return the tiles of numbers (k, size) around a centre (dim,)."""
        assert centre is not None
        # Each is copied to its own address, see ModulePolicy._own.
        shared = [
            centre[part.start : part.stop].reshape(parameter.shape).to(parameter.dtype, copy=True)
            for (_, parameter), part in self._parts
        ]
        return [self._tile(some, shared) for some in rows.split(TILE)]

    def _tile(self, rows: Tensor, shared: list[Tensor]) -> Tile:
        tile: Tile = []
        for (_, part), tensor in zip(self._parts, shared, strict=True):
            if part.columns:
                left, right = _factors(rows.to(tensor.dtype), part)
                tile += [tensor, padded(left), padded(right)]
            else:
                moved = rows[:, part.moved].to(tensor.dtype)
                tile.append(padded(tensor + moved.reshape(-1, *tensor.shape)))
        return tile

    def named(self, tensors: Iterable[Tensor]) -> dict[str, Tensor]:
        """Return the vectors and the shared matrices by name."""
        rest = iter(tensors)
        named = {}
        for (name, _), part in self._parts:
            named[name] = next(rest)
            if part.columns:
                next(rest), next(rest)
        return named

    def products(self, tensors: Iterable[Tensor]) -> "LowRankProducts":
        """Return the context in which a product with a shared matrix gives that with the network's own."""
        rest = iter(tensors)
        factors = {}
        for (name, _), part in self._parts:
            matrix = next(rest)
            if part.columns:
                factors[id(matrix)] = name, next(rest), next(rest)
        return LowRankProducts(factors)

    def whole(self, row: Tensor) -> list[Tensor]:
        """Return the parameters of a network around the module's own, matrices multiplied out."""
        found = []
        for (_, parameter), part in self._parts:
            if part.columns:
                left, right = _factors(row[None], part)
                moved = left[0].T @ right[0]
            else:
                moved = row[part.moved]
            found.append(parameter.detach() + moved.reshape(parameter.shape))
        return found


def _factors(rows: Tensor, part: Part) -> tuple[Tensor, Tensor]:
    """Return A^T (k, rank, a) and B^T (k, rank, b) of a matrix."""
    left, right = (rows[:, part.moved], rows[:, part.right])
    return left.reshape(len(rows), part.rank, -1), right.reshape(len(rows), part.rank, -1)


class LowRankProducts(TorchFunctionMode):
    """Adds the factors' part to products with shared matrices; refuses other operations on a matrix.

    Args:
        factors: name, A^T (rank, a) and B^T (rank, b) of each W, by its id.
    """

    def __init__(self, factors: dict[int, tuple[str, Tensor, Tensor]]) -> None:
        super().__init__()
        self._factors = factors

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return the result of a torch function for the network's own matrices."""
        kwargs = kwargs or {}
        read = [
            self._factors[id(one)] for one in pytree.tree_leaves((args, kwargs)) if id(one) in self._factors
        ]
        if not read:
            return func(*args, **kwargs)
        name, *factors = read[0]
        called = getattr(func, "__name__", "")
        if len(read) == 1 and called in _PRODUCTS and len(args) > 1 and id(args[1]) in self._factors:
            return _PRODUCTS[called](*factors, *args, **kwargs)
        answer = func(*args, **kwargs)
        if any(isinstance(leaf, Tensor) for leaf in pytree.tree_leaves(answer)):  # else it read a shape
            raise Refused(
                f"{called} reads the matrix {name}; --noise low-rank supports only {', '.join(_PRODUCTS)}"
            )
        return answer


def _linear(left: Tensor, right: Tensor, x: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
    product = functional.linear(x, matrix) + (x @ right.T) @ left
    return product if bias is None else product + bias


def _conv2d(
    left: Tensor,
    right: Tensor,
    x: Tensor,
    kernels: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    if groups != 1:
        raise Refused(f"a convolution has {groups} groups; --noise low-rank supports only one")
    product = functional.conv2d(x, kernels, None, stride, padding, dilation)
    channels, *size = kernels.shape[1:]
    for outputs, inputs in zip(left.unbind(), right.unbind(), strict=True):
        # A kernel per channel, summed afterwards, takes a hundredth of the time of one for all channels.
        own = inputs.reshape(channels, 1, *size)
        thin = functional.conv2d(x, own, None, stride, padding, dilation, channels).sum(1, keepdim=True)
        product = product + outputs[:, None, None] * thin
    return product if bias is None else product + bias[:, None, None]


def _embedding(left: Tensor, right: Tensor, index: Tensor, matrix: Tensor, **options: Any) -> Tensor:
    if options.get("max_norm") is not None:
        raise Refused("an embedding has a max_norm; --noise low-rank supports only those without")
    return functional.embedding(index, matrix) + functional.embedding(index, left.T) @ right


_PRODUCTS: dict[str, Callable[..., Tensor]] = {
    "linear": _linear,
    "conv2d": _conv2d,
    "embedding": _embedding,
}
