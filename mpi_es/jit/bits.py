"""The number of an int64's lowest and highest bit, for which LLVM has instructions and Python has none."""

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def lowest(typing_context: Any, number: Any) -> Any:
    """Return which bit of an int64 is the lowest 1; one must be."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], cgutils.true_bit)

    return types.int64(types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def highest(typing_context: Any, number: Any) -> Any:
    """Return which bit of an int64 is the highest 1; one must be."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.sub(cgutils.intp_t(63), builder.ctlz(args[0], cgutils.true_bit))

    return types.int64(types.int64), emit
