"""A member's state packed into one flat buffer: names, types and shapes in JSON, then the arrays."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import expected
from mpi_es.run_file.storable import check_storable

State = dict[str, Any]  # arrays of numbers, numbers and texts by name; names hold no "/"
Buffer = NDArray[np.uint8]

_LENGTH = 8  # bytes at the beginning, for the length of the JSON text


def pack(state: State) -> Buffer:
    """Return a buffer with the whole state; refuse values that it or a file could not restore."""
    check_storable(state, "state")
    if not state:
        raise expected("state", "an array, a number or a text at least", "nothing")
    for name, value in state.items():
        if isinstance(value, dict | np.generic):  # JSON would not restore its type
            raise expected(f"state/{name}", "an array of numbers, a number or a text", type(value).__name__)
    arrays = {name: np.ascontiguousarray(value) for name, value in state.items() if _is_array(value)}
    plain = {name: value for name, value in state.items() if not _is_array(value)}
    kinds = {name: (array.dtype.str, state[name].shape) for name, array in arrays.items()}
    text = json.dumps([list(state), plain, kinds]).encode()
    begin = _LENGTH + len(text)
    buffer = np.empty(begin + sum(array.nbytes for array in arrays.values()), np.uint8)
    buffer[:_LENGTH] = np.frombuffer(len(text).to_bytes(_LENGTH, "little"), np.uint8)
    buffer[_LENGTH : _LENGTH + len(text)] = np.frombuffer(text, np.uint8)
    for array in arrays.values():
        buffer[begin : begin + array.nbytes] = array.reshape(-1).view(np.uint8)
        begin += array.nbytes
    return buffer


def unpack(buffer: Buffer) -> State:
    """Return the state in a buffer; its arrays are copies."""
    length = int.from_bytes(buffer[:_LENGTH].tobytes(), "little")
    names, plain, kinds = json.loads(buffer[_LENGTH : _LENGTH + length].tobytes())
    begin = _LENGTH + length
    arrays = {}
    for name, (kind, shape) in kinds.items():
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        arrays[name] = buffer[begin : begin + size].copy().view(kind).reshape(shape)
        begin += size
    return {name: arrays[name] if name in arrays else plain[name] for name in names}


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)
