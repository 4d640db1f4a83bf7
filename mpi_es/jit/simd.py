"""A vector of eight float32 as a type in compiled code, for loops that LLVM does not vectorise by itself.

Additions keep the order in which they are written, whatever vectors the machine has: LLVM splits or joins
vectors.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

WIDTH = 8

_FLOATS = ir.VectorType(ir.FloatType(), WIDTH)
_INTEGERS = ir.VectorType(ir.IntType(32), WIDTH)


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__("Lanes")


LANES = _LanesType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _FLOATS)


def _operator(function: Any, emit: Callable[..., Any]) -> None:
    """Let +, - or * of two Lanes mean one vector instruction."""

    class Template(ConcreteTemplate):
        cases = (signature(LANES, LANES, LANES),)

    infer_global(function)(Template)
    lower_builtin(function, LANES, LANES)(lambda context, builder, kind, values: emit(builder, *values))


_operator(operator.add, lambda builder, a, b: builder.fadd(a, b))
_operator(operator.sub, lambda builder, a, b: builder.fsub(a, b))
_operator(operator.mul, lambda builder, a, b: builder.fmul(a, b))
_operator(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))


def _splat(builder: Any, number: Any) -> Any:
    first = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), number, cgutils.int32_t(0))
    return builder.shuffle_vector(first, first, ir.Constant(_INTEGERS, [0] * WIDTH))


def _address(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    """Return a pointer to the eight numbers from place i of a contiguous array (n,)."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [i]), _FLOATS.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, array: Any, i: Any) -> Any:
    """Return array[i : i + 8] of a contiguous float32 array (n,); bounds are not checked."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, sig.args[0], *args), align=4)

    return LANES(array, types.intp), emit


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: Any, i: Any, lanes: Any) -> Any:
    """Write array[i : i + 8] of a contiguous float32 array (n,); bounds are not checked."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _address(context, builder, sig.args[0], *args[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, LANES), emit


@intrinsic  # type: ignore[untyped-decorator]
def splat(typing_context: Any, number: Any) -> Any:
    """Return a number in all lanes."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _splat(builder, args[0])

    return LANES(types.float32), emit


@intrinsic  # type: ignore[untyped-decorator]
def spread(typing_context: Any, array: Any, i: Any) -> Any:
    """Return array[i] in all lanes, of a contiguous float32 array (n,); bounds are not checked."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return _splat(builder, builder.load(builder.gep(data, [args[1]])))

    return LANES(array, types.intp), emit


@intrinsic  # type: ignore[untyped-decorator]
def lane(typing_context: Any, lanes: Any, i: Any) -> Any:
    """Return one lane."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(*args)

    return types.float32(LANES, types.intp), emit


@intrinsic  # type: ignore[untyped-decorator]
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c, rounded once where the machine can, else twice."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.v8f32")
        return builder.call(function, args)

    return LANES(LANES, LANES, LANES), emit


@intrinsic  # type: ignore[untyped-decorator]
def maximum(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the larger of each lane; b where one of them is no number."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return LANES(LANES, LANES), emit


@intrinsic  # type: ignore[untyped-decorator]
def nearest(typing_context: Any, lanes: Any) -> Any:
    """Return the nearest whole numbers."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(_FLOATS, [_FLOATS])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.rint.v8f32")
        return builder.call(function, args)

    return LANES(LANES), emit


@intrinsic  # type: ignore[untyped-decorator]
def times_power_of_two(typing_context: Any, lanes: Any, exponents: Any) -> Any:
    """Return lanes * 2**exponents, of whole exponents and where the result is a normal number."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        exponents = builder.fptosi(args[1], _INTEGERS)
        shift = ir.Constant(_INTEGERS, [23] * WIDTH)  # a float32's exponent lies above 23 bits of fraction
        bits = builder.add(builder.bitcast(args[0], _INTEGERS), builder.shl(exponents, shift))
        return builder.bitcast(bits, _FLOATS)

    return LANES(LANES, LANES), emit
