"""A member's state as one flat buffer, which ranks of a job send each other; no file holds it."""

import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import expected
from mpi_es.run_file.storable import check_storable

State = dict[str, Any]  # arrays of numbers, numbers and texts by name; names hold no "/"
Buffer = NDArray[np.uint8]


def pack(state: State) -> Buffer:
    """Return a buffer with the whole state; refuse values that it or a file could not restore."""
    check_storable(state, "state")
    if not state:
        raise expected("state", "an array, a number or a text at least", "nothing")
    for name, value in state.items():
        if isinstance(value, dict | np.generic):  # a file would not restore its type
            raise expected(f"state/{name}", "an array of numbers, a number or a text", type(value).__name__)
        if isinstance(value, np.ndarray) and not value.flags.c_contiguous:  # sums depend on the order
            raise expected(f"state/{name}", "an array in C order, as of np.ascontiguousarray", "another")
    return np.frombuffer(bytearray(pickle.dumps(state, 5)), np.uint8)  # writable, as Ibcast requires


def unpack(buffer: Buffer) -> State:
    """Return the state in a buffer; its arrays are copies that may be written to."""
    state: State = pickle.loads(buffer.data)
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
