"""A run's progress in a Jupyter notebook: one line below the cell, updated in place."""

import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from mpi_es.run_file.records import EvaluationProgress
from mpi_es.telemetry.lines import TimeLeft
from mpi_es.telemetry.view import Numbers, View
from mpi_es.text import duration, number, thousands

_EVERY = 0.25  # seconds between updates: a run may do a thousand generations per second


def find_cell() -> Any:
    """Return a handle that shows a line below the running cell; None outside notebooks."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    return import_module("IPython.display").DisplayHandle() if hasattr(shell, "kernel") else None


class NotebookLine:
    """Show the last generation, and the progress of the running evaluation.

    Args:
        cell: a DisplayHandle of IPython.
        progress: of the running evaluation.
    """

    def __init__(self, cell: Any, view: View, progress: EvaluationProgress | None = None) -> None:
        self._cell, self._view, self._progress = cell, view, progress
        self._left = TimeLeft(view.max_iter)
        self._last = ""  # generation
        self._held_out = ""
        self._next = 0.0  # when a line may be shown

    def start(self, facts: Sequence[str], done: int) -> None:
        """Show the first fact: what the run evolves."""
        self._last = facts[0]
        self._cell.display(_text(self._last), raw=True)
        if self._progress:
            self._progress.listener = self._show

    def generation(self, numbers: Numbers) -> None:
        """Show the numbers of a generation."""
        view = self._view
        if "held_out/mean" in numbers:
            self._held_out = f"{view.held_out} {number(numbers['held_out/mean'])}"
        if view.course in numbers:
            scores = [f"{title} {number(numbers[name])}" for title, (_, name) in [*view.columns.items()][:2]]
            most = "at most " if view.may_end_earlier else ""
            left = f"{most}{duration(self._left.after(numbers))} left"
            head = f"generation {numbers['generation']:.0f} of {view.max_iter}: "
            self._last = head + ", ".join(filter(None, [*scores, self._held_out, left]))
            self._show()

    def finish(self, text: str) -> None:
        """Show why the run ended."""
        self._cell.update(_text(text), raw=True)

    def close(self) -> None:
        """Stop listening to the evaluation."""
        if self._progress:
            self._progress.listener = None

    def _show(self) -> None:
        """Show the last generation and the running evaluation, unless the line was updated a moment ago."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY
        now = self._episodes_done(self._progress) if self._progress else ""
        self._cell.update(_text(self._last + now), raw=True)

    def _episodes_done(self, progress: EvaluationProgress) -> str:
        """Return the progress of an evaluation, as far as rank 0 knows it."""
        kind = ("held-out " if progress.held_out else "") + self._view.episodes
        where = " of rank 0" if progress.share else ""
        return f"; {kind}{where} {thousands(progress.done)} of {thousands(progress.total)}"


def _text(text: str) -> dict[str, str]:
    return {"text/plain": text}
