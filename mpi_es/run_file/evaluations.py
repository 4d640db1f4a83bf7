"""The group /evaluations of run.h5: the held-out evaluations of a run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.run_file.records import HeldOut


def content(evaluations: Sequence[HeldOut]) -> dict[str, NDArray[Any]]:
    """Return `generation` (n,) and `returns` (n, episodes),
    NaN after the last episode of shorter evaluations.
    """
    widest = max((len(held_out.returns) for held_out in evaluations), default=0)
    returns = np.full((len(evaluations), widest), np.nan)
    for row, held_out in zip(returns, evaluations, strict=True):
        row[: len(held_out.returns)] = held_out.returns
    generation = np.array([held_out.generation for held_out in evaluations], np.int64)
    return {"generation": generation, "returns": returns}


def read(stored: dict[str, Any]) -> list[HeldOut]:
    """Return the evaluations that the group holds."""
    pairs = zip(stored["generation"], stored["returns"], strict=True)
    return [HeldOut(int(generation), returns[~np.isnan(returns)]) for generation, returns in pairs]
