"""Vectors of 8 float32, of a register's width, and of several registers, as types in compiled code.

For loops that LLVM does not vectorise by itself. Additions keep the order in which they are written on any
machine: LLVM splits or joins the vectors to fit its registers.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba.core import cgutils, types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

AVX512 = bool(get_host_cpu_features().get("avx512f"))  # vectors of 16 float32, and 32 registers for them
WIDTH = 8
WIDE = 16 if AVX512 else WIDTH


class _LanesType(types.Type):
    def __init__(self, width: int) -> None:
        super().__init__(f"Lanes{width}")
        self.width = width

    @property
    def floats(self) -> Any:
        """LLVM's type of the numbers."""
        return ir.VectorType(ir.FloatType(), self.width)

    @property
    def integers(self) -> Any:
        """LLVM's type of integers of the same size."""
        return ir.VectorType(ir.IntType(32), self.width)


_KINDS = {width: _LanesType(width) for width in (8, 16, 32)}
LANES, WIDE_LANES = _KINDS[WIDTH], _KINDS[WIDE]  # equal without AVX-512


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.floats)


def _operator(function: Any, emit: Callable[..., Any]) -> None:
    """Compile +, -, * or / of two vectors to one vector instruction."""

    class Template(ConcreteTemplate):
        cases = tuple(signature(kind, kind, kind) for kind in _KINDS.values())

    infer_global(function)(Template)
    for kind in _KINDS.values():
        lower_builtin(function, kind, kind)(
            lambda context, builder, signature, values: emit(builder, *values)
        )


_operator(operator.add, lambda builder, a, b: builder.fadd(a, b))
_operator(operator.sub, lambda builder, a, b: builder.fsub(a, b))
_operator(operator.mul, lambda builder, a, b: builder.fmul(a, b))
_operator(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))


class _Negation(ConcreteTemplate):
    cases = tuple(signature(kind, kind) for kind in _KINDS.values())


infer_global(operator.neg)(_Negation)
for _kind in _KINDS.values():
    lower_builtin(operator.neg, _kind)(lambda context, builder, signature, values: builder.fneg(values[0]))


def _splat(builder: Any, kind: _LanesType, number: Any) -> Any:
    first = builder.insert_element(ir.Constant(kind.floats, ir.Undefined), number, cgutils.int32_t(0))
    return _shuffle(builder, first, first, [0] * kind.width)


def _shuffle(builder: Any, a: Any, b: Any, places: list[int]) -> Any:
    """Return the lanes at these places of the concatenation of two vectors."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places))


def _address(context: Any, builder: Any, array_kind: Any, array: Any, i: Any) -> Any:
    """Return a pointer to element i of a contiguous array (n,)."""
    return builder.gep(context.make_array(array_kind)(context, builder, array).data, [i])


def _loader(kind: _LanesType) -> Any:
    """Return an intrinsic: array[i : i + width] of a contiguous float32 array; bounds are not checked."""

    @intrinsic  # type: ignore[untyped-decorator]
    def load(typing_context: Any, array: Any, i: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            place = _address(context, builder, sig.args[0], *args)
            return builder.load(builder.bitcast(place, kind.floats.as_pointer()), align=4)

        return kind(array, types.intp), emit

    return load


def _splatter(kind: _LanesType) -> Any:
    """Return an intrinsic: a number in all lanes."""

    @intrinsic  # type: ignore[untyped-decorator]
    def splat(typing_context: Any, number: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _splat(builder, kind, args[0])

        return kind(types.float32), emit

    return splat


def _spreader(kind: _LanesType) -> Any:
    """Return an intrinsic: array[i] in all lanes, of a contiguous float32 array; bounds are not checked."""

    @intrinsic  # type: ignore[untyped-decorator]
    def spread(typing_context: Any, array: Any, i: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _splat(builder, kind, builder.load(_address(context, builder, sig.args[0], *args)))

        return kind(array, types.intp), emit

    return spread


load, load_wide = _loader(LANES), _loader(WIDE_LANES)
spread, spread_wide = _spreader(LANES), _spreader(WIDE_LANES)
splat, splat_wide = _splatter(LANES), _splatter(WIDE_LANES)


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: Any, i: Any, lanes: Any) -> Any:
    """Write a vector from array[i] on, of a contiguous float32 array (n,); bounds are not checked."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = _address(context, builder, sig.args[0], *args[:2])
        builder.store(args[2], builder.bitcast(place, lanes.floats.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), emit


@intrinsic  # type: ignore[untyped-decorator]
def get(typing_context: Any, field: Any) -> Any:
    """Return a record's array as a vector; its type gives the length: 8, 16 or 32 float32."""
    kind = _KINDS[field.shape[0]]

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.load(builder.bitcast(place, kind.floats.as_pointer()), align=4)

    return kind(field), emit


@intrinsic  # type: ignore[untyped-decorator]
def put(typing_context: Any, field: Any, lanes: Any) -> Any:
    """Write a vector to a record's array of the same length."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = context.make_array(sig.args[0])(context, builder, args[0]).data
        builder.store(args[1], builder.bitcast(place, lanes.floats.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(field, lanes), emit


def _chooser(comparison: str) -> Any:
    """Return an intrinsic: in each lane x where the comparison of a and b holds, else y."""

    @intrinsic  # type: ignore[untyped-decorator]
    def choose(typing_context: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.select(builder.fcmp_ordered(comparison, *args[:2]), *args[2:])

        return a(a, a, a, a), emit

    return choose


where_less, where_more, where_at_least = _chooser("<"), _chooser(">"), _chooser(">=")


@intrinsic  # type: ignore[untyped-decorator]
def total(typing_context: Any, lanes: Any) -> Any:
    """Return the sum of the lanes: the upper half is added to the lower one until one number remains."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        (rest,) = args
        width = lanes.width
        while width > 1:
            width //= 2
            lower, upper = list(range(width)), list(range(width, 2 * width))
            rest = builder.fadd(_shuffle(builder, rest, rest, lower), _shuffle(builder, rest, rest, upper))
        return builder.extract_element(rest, cgutils.int32_t(0))

    return types.float32(lanes), emit


@intrinsic  # type: ignore[untyped-decorator]
def first(typing_context: Any, lanes: Any) -> Any:
    """Return the first lane."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(args[0], cgutils.int32_t(0))

    return types.float32(lanes), emit


@intrinsic  # type: ignore[untyped-decorator]
def fmuladd(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c, rounded once if the machine can, else twice."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(a.floats, [a.floats] * 3)
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{a.width}f32")
        return builder.call(function, args)

    return a(a, a, a), emit


@intrinsic  # type: ignore[untyped-decorator]
def maximum(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the larger of a and b in each lane; b where one of them is NaN."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return a(a, a), emit


@intrinsic  # type: ignore[untyped-decorator]
def minimum(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the smaller of a and b in each lane; b where one of them is NaN."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return a(a, a), emit


@intrinsic  # type: ignore[untyped-decorator]
def shift_into_exponent(typing_context: Any, lanes: Any, numbers: Any) -> Any:
    """Return lanes * 2**e, where e is the integer in the lowest nine bits of `numbers`;
    results must be normal.
    """

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values, exponents = (builder.bitcast(arg, lanes.integers) for arg in args)
        # The exponent is above the 23 bits of the fraction.
        shift = ir.Constant(lanes.integers, [23] * lanes.width)
        return builder.bitcast(builder.add(values, builder.shl(exponents, shift)), lanes.floats)

    return lanes(lanes, lanes), emit


@intrinsic  # type: ignore[untyped-decorator]
def store_bytes(typing_context: Any, array: Any, i: Any, a: Any, b: Any, c: Any) -> Any:
    """Write three vectors as uint8, interleaved by lane and truncated, from array[i] on."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        width, bits = a.width, ir.IntType(8)
        x, y, z = (
            builder.trunc(builder.fptosi(lanes, a.integers), ir.VectorType(bits, width)) for lanes in args[2:]
        )
        joined = list(range(2 * width))
        in_turn = [width * vector + lane for lane in range(width) for vector in range(3)]
        mixed = _shuffle(builder, _shuffle(builder, x, y, joined), _shuffle(builder, z, z, joined), in_turn)
        place = _address(context, builder, sig.args[0], *args[:2])
        builder.store(mixed, builder.bitcast(place, mixed.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, types.intp, a, a, a), emit
