"""The values that a run file can store and return unchanged, in the state of a strategy or a member."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mpi_es.config.fields import LARGEST
from mpi_es.errors import expected

HOLDS = "arrays of numbers, numbers, texts and dicts of these"
_PLAIN = (bool, int, float, str, np.bool_, np.integer)


def check_storable(state: Mapping[str, Any], name: str) -> None:
    """Refuse a state that a run file cannot store and return unchanged.

    Args:
        name: of the state, for the message.
    """
    for key, value in state.items():
        if not isinstance(key, str) or key in ("", ".") or "/" in key or not _is_text(key):
            raise expected(name, "names that are texts without '/', and not '.'", key)
        place = f"{name}/{key}"
        if isinstance(value, dict):
            check_storable(value, place)
        elif got := _unfit(value):
            raise expected(place, HOLDS, got)


def _unfit(value: Any) -> str:
    """Describe a value that no run file can hold; return an empty text if one can."""
    if isinstance(value, np.ndarray):
        return "" if value.dtype.kind in "biuf" else f"an array of {value.dtype}"
    if not isinstance(value, _PLAIN):
        return type(value).__name__
    if isinstance(value, str):
        return "" if _is_text(value) else "a text with NUL, or one that is not Unicode"
    long = isinstance(value, int) and not -LARGEST - 1 <= value <= LARGEST
    return "an integer of more than 64 bits" if long else ""


def _is_text(value: str) -> bool:
    """Return whether HDF5 can store the text."""
    return "\0" not in value and value.encode(errors="ignore").decode() == value
