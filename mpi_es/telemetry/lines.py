"""A run's progress as plain lines, one per generation, as in a log file."""

import math
import signal
import textwrap
from collections import deque
from collections.abc import Sequence
from typing import TextIO

from mpi_es.errors import UserError
from mpi_es.telemetry.view import Numbers, View
from mpi_es.text import compact, duration, number

_WIDTH = 80  # of a line
_HEADER_EVERY = 25  # lines


class TimeLeft:
    """The time left of a run, estimated from its latest generations."""

    def __init__(self, max_iter: int) -> None:
        self._max_iter = max_iter
        self._recent: deque[float] = deque(maxlen=50)  # enough to include some held-out evaluations

    def after(self, numbers: Numbers) -> float:
        """Return the seconds left after a generation."""
        self._recent.append(numbers["seconds/total"])
        remaining = max(self._max_iter - numbers["generation"], 0)
        return remaining * sum(self._recent) / len(self._recent)


class Lines:
    """Write and flush a line for each generation, with a header every 25 lines."""

    def __init__(self, stream: TextIO, view: View) -> None:
        self._stream, self._view = stream, view
        self._left = TimeLeft(view.max_iter)
        widths = {"gen": max(len(str(view.max_iter)), 4)}
        widths |= {title: width for title, (width, _) in view.columns.items()}
        rest = _WIDTH - sum(width + 1 for width in widths.values())
        self._title = "at most" if view.may_end_earlier else "left"  # of the time left
        self._widths = widths | {self._title: min(rest, 11)}
        self._rows = 0
        self._restarts = math.inf  # before the last generation; unknown at first
        self._evaluation: Numbers = {}  # after the last generation

    def start(self, facts: Sequence[str], done: int) -> None:
        """Write the facts."""
        for fact in facts:
            self._write(fact)

    def generation(self, numbers: Numbers) -> None:
        """Write a line."""
        if self._view.course not in numbers:
            self._evaluation = numbers
            return
        restarts = numbers.get("start", 0)
        if restarts > self._restarts:
            self._write(f"restart {restarts:.0f}: another draw, {numbers['popsize']:.0f} candidates")
        self._restarts = restarts
        if self._rows % _HEADER_EVERY == 0:
            self._align([*self._widths])
        self._rows += 1
        cells = [compact(numbers.get(name, math.nan), width) for width, name in self._view.columns.values()]
        left = duration(self._left.after(numbers), self._widths[self._title])
        self._align([f"{numbers['generation']:.0f}", *cells, left])

    def finish(self, text: str) -> None:
        """Write the score of the evaluation after the last generation, if there was one, and the text."""
        if known := self._evaluation:
            spread = f" ± {number(known['held_out/std'])} (deviation)" if "held_out/std" in known else ""
            score = f"{self._view.held_out} {number(known['held_out/mean'])}{spread}"
            self._write(f"{score} at generation {known['generation']}")
        first, *commands = text.split("\n")
        self._write(first)
        for command in commands:  # not wrapped, so that it can be pasted
            self._print(command)

    def close(self) -> None:
        """Do nothing: every line is flushed."""

    def _write(self, text: str) -> None:
        """Write text, in several lines if it is long."""
        for line in textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False):
            self._print(line)

    def _align(self, cells: Sequence[str]) -> None:
        widths = self._widths.values()
        self._print(" ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)))

    def _print(self, line: str) -> None:
        try:
            print(line, file=self._stream, flush=True)
        except BrokenPipeError:  # the reader is gone: stop the run as a hang-up of the terminal does
            if (
                signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
            ):  # then the signal would end the process without a save
                raise
            signal.raise_signal(signal.SIGHUP)
        except OSError as error:
            raise UserError(f"--console: cannot write ({error.strerror}); use silent") from error
