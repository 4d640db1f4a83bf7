"""Batches of a structure, and their rows: arrays with a further first axis, records, named tuples of these.

All rows share a working space: a part whose class has that decorator.
"""

from copy import deepcopy
from typing import Any, TypeVar

import numpy as np
from numba.core import cgutils
from numba.core import types as numba_types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import populate_array

types: Any = numba_types  # its classes are not in its stubs
T = TypeVar("T")


def working_space(kind: type[T]) -> type[T]:
    """Mark a class of named tuples as shared by all rows; return it."""
    kind.is_shared = True  # type: ignore[attr-defined]
    return kind


def repeat(one: T, count: int) -> T:
    """Return a named tuple with `count` copies of each array; everything else stays the same."""
    if isinstance(one, np.ndarray):
        return np.repeat(one[None], count, axis=0)  # type: ignore[return-value]
    if not isinstance(one, tuple) or _is_shared(type(one)):
        return one
    return type(one)(*(repeat(part, count) for part in one))


def rows(several: T, first: int, last: int) -> T:
    """Return rows first to last - 1 as views, with a copy of the parts that all rows share."""
    if isinstance(several, np.ndarray):
        return several[first:last]  # type: ignore[return-value]
    if not isinstance(several, tuple) or _is_shared(type(several)):
        return deepcopy(several)
    return type(several)(*(rows(part, first, last) for part in several))


def row(several: T, i: int) -> T:
    """Return row i: a view of an array, a record, a named tuple of these; in Python and in compiled code.

    Compiled code counts no references to the views: the arrays must outlive them.
    """
    if isinstance(several, np.ndarray):
        return several[i]  # type: ignore[no-any-return]
    if not isinstance(several, tuple) or _is_shared(type(several)):
        return several
    return type(several)(*(row(part, i) for part in several))


def _is_shared(kind: type) -> bool:
    """Return whether all rows share the parts of a class of named tuples."""
    return hasattr(kind, "is_shared")


@overload(row)  # type: ignore[untyped-decorator]
def _overload_row(several: Any, i: Any) -> Any:
    def implementation(several: Any, i: Any) -> Any:  # numba wants the same signature
        return _row(several, i)

    return implementation


@intrinsic  # type: ignore[untyped-decorator]
def _row(typing_context: Any, several: Any, i: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _emit_row(context, builder, several, *args)

    return _row_type(several)(several, types.intp), emit


def _row_type(kind: Any) -> Any:
    """Return numba's type of a row."""
    if _is_of_records(kind):
        return kind.dtype
    if isinstance(kind, types.Array):
        return kind.copy(ndim=kind.ndim - 1)
    if isinstance(kind, types.BaseNamedTuple) and not _is_shared(kind.instance_class):
        return types.BaseTuple.from_types([_row_type(part) for part in kind.types], kind.instance_class)
    return kind


def _is_of_records(kind: Any) -> bool:
    """Return whether an array's rows are records."""
    return isinstance(kind, types.Array) and kind.ndim == 1 and isinstance(kind.dtype, types.Record)


def _emit_row(context: Any, builder: Any, kind: Any, value: Any, i: Any, shared: bool = False) -> Any:
    """Emit row i of a value of type `kind`.

    Args:
        shared: whether it is part of a working space.
    """
    if isinstance(kind, types.BaseNamedTuple):
        shared = shared or _is_shared(kind.instance_class)
        parts = zip(kind.types, cgutils.unpack_tuple(builder, value), strict=True)
        rows = [_emit_row(context, builder, part, item, i, shared) for part, item in parts]
        return context.make_tuple(builder, kind if shared else _row_type(kind), rows)
    if shared:
        return _emit_borrowed(context, builder, kind, value)
    if _is_of_records(kind):
        array = context.make_array(kind)(context, builder, value)
        strides = cgutils.unpack_tuple(builder, array.strides)
        # A record is the address of its bytes.
        return cgutils.pointer_add(builder, array.data, builder.mul(strides[0], i), array.data.type)
    return _emit_view(context, builder, kind, value, i) if isinstance(kind, types.Array) else value


def _emit_borrowed(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Emit an array whose references are not counted."""
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    return array._getvalue()


def _emit_view(context: Any, builder: Any, kind: Any, value: Any, i: Any) -> Any:
    """Emit a view of an array's row."""
    array = context.make_array(kind)(context, builder, value)
    shape = cgutils.unpack_tuple(builder, array.shape)
    strides = cgutils.unpack_tuple(builder, array.strides)
    view = context.make_array(_row_type(kind))(context, builder)
    populate_array(
        view,
        data=cgutils.pointer_add(builder, array.data, builder.mul(strides[0], i), array.data.type),
        shape=shape[1:],
        strides=strides[1:],
        itemsize=array.itemsize,
        meminfo=None,
    )
    return view._getvalue()
