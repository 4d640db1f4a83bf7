"""A member's state packed into one flat buffer: names, types and shapes in JSON, then the arrays."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import expected

State = dict[str, Any]  # arrays of numbers, numbers and texts by name; names hold no "/"
Buffer = NDArray[np.uint8]

_ALIGNMENT = 16  # bytes: arrays begin at multiples, so that they can be used in place
_LENGTH = 8  # bytes at the beginning, for the length of the JSON text


def pack(state: State) -> Buffer:
    """Return a buffer with the whole state; refuse values that it or a file could not restore."""
    for name, value in state.items():
        _check(name, value)
    arrays = {name: np.ascontiguousarray(value) for name, value in state.items() if _is_array(value)}
    plain = {name: value for name, value in state.items() if not _is_array(value)}
    kinds = {name: (array.dtype.str, state[name].shape) for name, array in arrays.items()}
    text = json.dumps([list(state), plain, kinds]).encode()
    begin = _padded(_LENGTH + len(text))
    buffer = np.zeros(begin + sum(_padded(array.nbytes) for array in arrays.values()), np.uint8)
    buffer[:_LENGTH] = np.frombuffer(len(text).to_bytes(_LENGTH, "little"), np.uint8)
    buffer[_LENGTH : _LENGTH + len(text)] = np.frombuffer(text, np.uint8)
    for array in arrays.values():
        buffer[begin : begin + array.nbytes] = array.reshape(-1).view(np.uint8)
        begin += _padded(array.nbytes)
    return buffer


def unpack(buffer: Buffer) -> State:
    """Return the state in a buffer; its arrays are copies."""
    length = int.from_bytes(buffer[:_LENGTH].tobytes(), "little")
    names, plain, kinds = json.loads(buffer[_LENGTH : _LENGTH + length].tobytes())
    begin = _padded(_LENGTH + length)
    arrays = {}
    for name, (kind, shape) in kinds.items():
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        arrays[name] = buffer[begin : begin + size].copy().view(kind).reshape(shape)
        begin += _padded(size)
    return {name: arrays[name] if name in arrays else plain[name] for name in names}


def _check(name: Any, value: Any) -> None:
    if not isinstance(name, str) or not name or "/" in name or not _is_text(name):
        raise expected("state", "names that are texts without '/'", name)
    known = value.dtype.kind in "biuf" if _is_array(value) else isinstance(value, bool | int | float | str)
    if not known:
        kind = f"an array of {value.dtype}" if _is_array(value) else type(value).__name__
        raise expected(f"state {name}", "an array of numbers, a number or a text", kind)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise expected(f"state {name}", "a number of 64 bits, or an array of several", value)
    if isinstance(value, str) and not _is_text(value):
        raise expected(f"state {name}", "a text that UTF-8 can hold, without NUL", value)


def _is_text(value: str) -> bool:
    """Return whether HDF5 can store the text."""
    return "\0" not in value and value.encode(errors="ignore").decode() == value


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
