"""The past generations and evaluations of a run, as run.h5 stores them."""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from mpi_es.run_file.records import HeldOut, Row, Timing

LARGEST_SIGMA = 1e150  # squares of much larger ones are infinite


class End(NamedTuple):
    """Why a run is over, and the option that ends it, if there is one."""

    reason: str
    option: str


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
        self.evaluations = read_evaluations(stored["evaluations"]) if stored else []

    @property
    def steps(self) -> int:
        """Environment steps of all generations."""
        return int(self.rows.content()["steps"].sum())

    @property
    def episodes(self) -> int:
        """Episodes, or calls of a function, of all generations."""
        return int(self.rows.content()["episodes"].sum())

    @property
    def calls(self) -> int:
        """The number of all calls of a function."""
        return self.episodes + sum(held.calls for held in self.evaluations)

    def content(self) -> dict[str, Any]:
        """Return the groups of run.h5."""
        return {
            "history": self.rows.content(),
            "timing": self.timings.content(),
            "evaluations": evaluations_content(self.evaluations),
        }

    def due(self, every: int) -> list[HeldOut]:
        """Return the held-out evaluations after each `every` generations, which may reach a target.

        The extra one at the end of a run is not among them: a longer run would not have made it.
        """
        return [held for held in self.evaluations if every and held.generation % every == 0]

    def streak(self, target: float, every: int) -> int:
        """Return the number of last held-out evaluations in a row whose score reached the target."""
        due = self.due(every)[::-1]
        return _last_in_a_row(
            held.generation == due[0].generation - i * every and self.score(held) >= target
            for i, held in enumerate(due)
        )

    def score(self, held_out: HeldOut) -> float:
        """Return the mean of a held-out evaluation, in which a failed call counts as the lowest return.

        That is the lowest of the evaluation and of the generation before, whose row is complete.
        """
        if not held_out.failures:
            return held_out.mean
        if not len(held_out.returns):
            return -math.inf
        done, succeeded = held_out.generation, len(held_out.returns)
        of_populations = self.rows.content()["min"][max(done - 2, 0) : max(done - 1, 0)]
        lowest = float(np.concatenate([held_out.returns, of_populations]).min())
        share = held_out.failures / (succeeded + held_out.failures)
        return (1 - share) * held_out.mean + share * lowest

    def streak_of_best(self, target: float) -> int:
        """Return how many of the latest generations in a row had a candidate that reached the target."""
        return _last_in_a_row(self.rows.content()["best"][::-1] >= target)

    def why_converged(self, tolx: float, tolfun: float, dim: int, penalised: dict[str, Any]) -> End | None:
        """Return why the search has converged, by pycma's criteria, or diverged; None if it has not.

        Args:
            penalised: columns of Feasibility, whose fitness is compared if there are constraints.
        """
        if not self.rows.length:
            return None
        columns = self.rows.content()
        if columns["sigma"][-1] > LARGEST_SIGMA:
            return End(f"diverged: sigma is above {LARGEST_SIGMA:g}", "")
        if columns["deviation"][-1] < tolx:
            return End(f"converged: no parameter varies by {tolx:g} among the candidates", "tolx")
        best, worst = columns["best"], columns["min"]
        if penalised:
            best, worst = penalised["penalised"], penalised["penalised_min"]
        span = 10 + math.ceil(30 * dim / columns["popsize"][-1])  # generations, as in pycma
        recent = best[-span:]
        with np.errstate(over="ignore"):  # a difference may be infinite
            flat = len(recent) == span and best[-1] - worst[-1] < tolfun and np.ptp(recent) < tolfun
        return End(f"converged: values vary by less than {tolfun:g}", "tolfun") if flat else None


def evaluations_content(evaluations: Sequence[HeldOut]) -> dict[str, NDArray[Any]]:
    """Return `generation`, `failures` (n,), and `returns` (n, episodes) with NaN at the end of short rows."""
    widest = max((len(held_out.returns) for held_out in evaluations), default=0)
    returns = np.full((len(evaluations), widest), np.nan)
    for row, held_out in zip(returns, evaluations, strict=True):
        row[: len(held_out.returns)] = held_out.returns
    generation = np.array([held_out.generation for held_out in evaluations], np.int64)
    failures = np.array([held_out.failures for held_out in evaluations], np.int64)
    return {"generation": generation, "returns": returns, "failures": failures}


def read_evaluations(stored: dict[str, Any]) -> list[HeldOut]:
    """Return the evaluations that the group /evaluations holds."""
    rows = zip(stored["generation"], stored["returns"], stored["failures"], strict=True)
    return [
        HeldOut(int(generation), returns[~np.isnan(returns)], int(failures))
        for generation, returns, failures in rows
    ]


def _last_in_a_row(reached: Iterable[Any]) -> int:
    """Return how many are true before the first false one."""
    return sum(1 for _ in takewhile(bool, reached))
