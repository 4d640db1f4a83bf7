"""An int64's lowest and highest bit, bytes read as words, fma and fmuladd:
operations that LLVM has and Python lacks.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def lowest(typing_context: Any, number: Any) -> Any:
    """Return the index of the lowest set bit of an int64, which must not be 0."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], cgutils.true_bit)

    return types.int64(types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def highest(typing_context: Any, number: Any) -> Any:
    """Return the index of the highest set bit of an int64, which must not be 0."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.sub(cgutils.intp_t(63), builder.ctlz(args[0], cgutils.true_bit))

    return types.int64(types.int64), emit


def _reader(kind: Any) -> Any:
    """Return an intrinsic: the bytes of a contiguous uint8 array (n,) from an index on, as one number.

    The index may be unaligned, and bounds are not checked.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def read(typing_context: Any, array: Any, place: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            data = context.make_array(sig.args[0])(context, builder, args[0]).data
            number = ir.IntType(kind.bitwidth).as_pointer()
            return builder.load(builder.bitcast(builder.gep(data, [args[1]]), number), align=1)

        return kind(array, types.intp), emit

    return read


read_uint32, read_uint64 = _reader(types.uint32), _reader(types.uint64)


@intrinsic  # type: ignore[untyped-decorator]
def fmuladd(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c of float32, rounded once if the machine can, else twice."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = ir.FloatType()
        kind = ir.FunctionType(number, [number] * 3)
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.f32")
        return builder.call(function, args)

    return types.float32(types.float32, types.float32, types.float32), emit


@intrinsic  # type: ignore[untyped-decorator]
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c of float64, rounded once; a machine without the instruction calls the C library's."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = ir.DoubleType()
        kind = ir.FunctionType(number, [number] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.fma.f64"), args)

    return types.float64(types.float64, types.float64, types.float64), emit
