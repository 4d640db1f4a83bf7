"""The torch operations for networks side by side: bit-identical in every row of a tile."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx
from torch.nn import functional
from torch.overrides import TorchFunctionMode

# A program may consist of these. Each either moves numbers, or computes elementwise, or within a row. mm and
# addmm are missing since they join the rows of a tile to one matrix, whose last rows are computed differently
# (see shared_product); other operations are missing since nobody tested them.
_MOVES = """alias cat clone constant_pad_nd detach expand full lift_fresh_copy new_zeros ones permute repeat
    select slice split split_with_sizes squeeze stack t _to_copy transpose unbind unfold unsqueeze
    _unsafe_view view _reshape_alias zeros zeros_like ones_like full_like arange scalar_tensor"""
_BY_NUMBER = """abs add addcmul clamp clamp_min clamp_max div elu eq erf exp ge gelu gt hardsigmoid hardswish
    hardtanh le leaky_relu log log1p logical_and logical_not lt maximum minimum mish mul ne neg pow reciprocal
    relu rsqrt rsub sigmoid sign silu sin cos softplus sqrt square sub tanh where"""
_WITHIN_A_ROW = """amax amin mean sum var var_mean _softmax _log_softmax native_layer_norm native_group_norm
    native_batch_norm _native_batch_norm_legit_no_training argmax bmm convolution"""
_KNOWN = {f"aten::{name}" for name in f"{_MOVES} {_BY_NUMBER} {_WITHIN_A_ROW}".split()}
_SHARED = {"aten::mm", "aten::embedding"}  # if networks share matrices, with the products of this module
_ALIGNED = 16  # floats in 64 bytes, to which torch aligns its own arrays


def complaint(graph: fx.Graph, tile: int, *, shares: bool = False) -> str:
    """Return why a program's rows may differ; empty if they cannot.

    Args:
        shares: whether networks share matrices.
    """
    known = _KNOWN | _SHARED if shares else _KNOWN
    for node in graph.nodes:
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            continue
        schema = node.target._schema
        if schema.is_mutable:
            return "its forward changes its buffers"
        is_convolution = node.target is torch.ops.aten.convolution.default
        mixes = is_convolution and node.args[8] % tile != 0  # its groups: not each row with its own kernels
        if schema.name not in known or (mixes and not shares):
            return f"the rows of {schema.name.replace('::', '.')} may differ"
        for value in _values(node):
            if value.is_floating_point() and value.dtype not in (torch.float32, torch.float64):
                return f"the rows of {value.dtype} may differ"  # a vector holds more of them, see TILE
    return ""


def multiplications(graph: fx.Graph) -> int:
    """Return the number of multiplications in the products and convolutions of a program."""
    count = 0
    for node in graph.nodes:
        if node.target in (torch.ops.aten.bmm.default, torch.ops.aten.mm.default):
            left, right = (_values(argument)[0] for argument in node.args)
            count += left.numel() * right.shape[-1]
        elif node.target is torch.ops.aten.convolution.default:
            count += _values(node)[0].numel() * _values(node.args[1])[0][0].numel()
    return count


def compiled(program: fx.GraphModule) -> Callable[..., Any]:
    """Return the program as a function of its tensors, with the products of this module."""
    graph = program.graph
    for node in [*graph.nodes]:
        if node.target is torch.ops.aten.bmm.default:
            node.target = product
        elif node.target is torch.ops.aten.mm.default:
            node.target = shared_product
        elif _does_nothing(node):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    graph.set_codegen(fx.graph.CodeGen())  # without code that unpacks structured arguments
    program.recompile()
    forward: Callable[..., Any] = program.forward
    return forward


def product(left: Tensor, right: Tensor) -> Tensor:
    """Return the products (b, m, n) of matrices (b, m, k) and (b, k, n), each as if it were computed alone.

    MKL aligns its sums to 64 bytes, so matrices with different alignments may round differently.
    """
    if left.shape[2] % _ALIGNED == 0 and right.shape[2] % _ALIGNED == 0:
        return torch.bmm(left, right)
    return (left[:, :, None] * right.transpose(1, 2)[:, None]).sum(-1)


def shared_product(left: Tensor, right: Tensor) -> Tensor:
    """Return the product of the rows (m, k) of all networks of a tile and a matrix (k, n) that they share."""
    # With the networks as columns all are rounded alike, since a tile has 32 of them. As rows they are not
    # if k and n are odd.
    return torch.mm(right.t(), left.t().contiguous()).t().contiguous()


def _values(node: fx.Node) -> list[Tensor]:
    """Return the tensors that a node of a program computed during tracing."""
    value = node.meta.get("val")
    return [v for v in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(v, Tensor)]


def _does_nothing(node: fx.Node) -> bool:
    """Return whether a node returns its argument: a view of the same shape, or a product with 1."""
    if node.target is torch.ops.aten.mul.Scalar:
        return bool(node.args[1] == 1) and _values(node)[0].dtype == _values(node.args[0])[0].dtype
    views = torch.ops.aten.expand.default, torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default
    return node.target in views and _values(node)[0].shape == _values(node.args[0])[0].shape


class Cells(TorchFunctionMode):
    """Computes torch's recurrent cells, for which vmap has no rule, by their equations."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return the result of a torch function, or of a cell's equations."""
        return _CELLS.get(getattr(func, "__name__", ""), func)(*args, **(kwargs or {}))


def _lstm(x: Tensor, memory: Any, w_x: Tensor, w_h: Tensor, b_x: Any, b_h: Any) -> tuple[Tensor, Tensor]:
    hidden, cell = memory
    i, f, g, o = (functional.linear(x, w_x, b_x) + functional.linear(hidden, w_h, b_h)).chunk(4, 1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru(x: Tensor, hidden: Tensor, w_x: Tensor, w_h: Tensor, b_x: Any, b_h: Any) -> Tensor:
    r_x, z_x, n_x = functional.linear(x, w_x, b_x).chunk(3, 1)
    r_h, z_h, n_h = functional.linear(hidden, w_h, b_h).chunk(3, 1)
    new = (n_x + (r_x + r_h).sigmoid() * n_h).tanh()
    return new + (z_x + z_h).sigmoid() * (hidden - new)


def _rnn(x: Tensor, hidden: Tensor, w_x: Tensor, w_h: Tensor, b_x: Any, b_h: Any) -> Tensor:
    return functional.linear(x, w_x, b_x) + functional.linear(hidden, w_h, b_h)


_CELLS: dict[str, Callable[..., Any]] = {
    "lstm_cell": _lstm,
    "gru_cell": _gru,
    "rnn_tanh_cell": lambda *given: _rnn(*given).tanh(),
    "rnn_relu_cell": lambda *given: _rnn(*given).relu(),
}
