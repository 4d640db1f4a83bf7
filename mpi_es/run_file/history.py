"""The past generations and evaluations of a run, as run.h5 stores them."""

import dataclasses
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from mpi_es.run_file.records import HeldOut, Row, Timing


class Table:
    """A table that grows by rows: one column for each field of a record."""

    def __init__(self, record: type, stored: dict[str, Any] | None = None) -> None:
        names = [field.name for field in dataclasses.fields(record)]
        hints = get_type_hints(record)
        kinds = {name: np.int64 if hints[name] is int else np.float64 for name in names}
        self.length = 0 if stored is None else len(stored[names[0]])
        self._columns: dict[str, NDArray[Any]] = {}
        for name in names:
            self._columns[name] = np.zeros(max(64, 2 * self.length), kinds[name])
            if stored is not None:
                self._columns[name][: self.length] = stored[name]

    def append(self, record: Any) -> None:
        """Add a row."""
        for name, column in self._columns.items():
            if self.length == len(column):
                self._columns[name] = column = np.resize(column, 2 * self.length)
            column[self.length] = getattr(record, name)
        self.length += 1

    def content(self) -> dict[str, Any]:
        """Return the columns as arrays (rows,)."""
        return {name: column[: self.length] for name, column in self._columns.items()}


class History:
    """The generations and the held-out evaluations of a run."""

    def __init__(self, stored: dict[str, Any] | None = None) -> None:
        stored = stored or {}
        self.rows = Table(Row, stored.get("history"))
        self.timings = Table(Timing, stored.get("timing"))
        evaluations = stored.get("evaluations", {"generation": [], "returns": []})
        self.evaluations = [
            HeldOut(int(generation), returns[~np.isnan(returns)])
            for generation, returns in zip(evaluations["generation"], evaluations["returns"], strict=True)
        ]

    def content(self) -> dict[str, Any]:
        """Return the groups of run.h5; evaluations with fewer episodes end in NaN."""
        widest = max((len(held.returns) for held in self.evaluations), default=0)
        returns = np.full((len(self.evaluations), widest), np.nan)
        for row, held in zip(returns, self.evaluations, strict=True):
            row[: len(held.returns)] = held.returns
        generations = np.array([held.generation for held in self.evaluations], np.int64)
        return {
            "history": self.rows.content(),
            "timing": self.timings.content(),
            "evaluations": {"generation": generations, "returns": returns},
        }

    def streak(self, target: float) -> int:
        """Return the number of last held-out evaluations in a row whose mean reached the target."""
        count = 0
        for held in reversed(self.evaluations):
            if held.returns.mean() < target:
                break
            count += 1
        return count
