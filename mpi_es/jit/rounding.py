"""A product and a sum with one rounding, in float64: C's fma, which Python has only since 3.13."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c of float64, rounded once; a machine without the instruction calls the C library's."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = ir.DoubleType()
        kind = ir.FunctionType(number, [number] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.fma.f64"), args)

    return types.float64(types.float64, types.float64, types.float64), emit
