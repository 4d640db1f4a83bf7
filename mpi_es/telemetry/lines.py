"""A run's progress as plain lines, one for each generation, as in a log file."""

import math
import signal
import textwrap
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TextIO

from mpi_es.config.run import Config
from mpi_es.errors import UserError
from mpi_es.run_file.records import EvaluationProgress, HeldOut, Row, Timing, shown, sign
from mpi_es.run_file.scores import mean_and_deviation
from mpi_es.text import compact, duration, thousands

_COLUMNS = {  # title: width
    "best": 7,
    "mean": 7,
    "centre": 7,
    "held-out": 8,
    "sigma": 6,
    "length": 6,
    "steps/s": 7,
    "seconds": 7,
}
_FUNCTION_COLUMNS = {  # of what has no episodes
    "best": 9,
    "mean": 9,
    "centre": 9,
    "held-out": 8,
    "sigma": 7,
    "calls/s": 7,
    "seconds": 7,
}
_WIDTH = 80  # of a line
_LONG = 10.0  # seconds of an evaluation after which a terminal shows how far it is, once a second
_HEADER_EVERY = 25  # lines


class TimeLeft:
    """The time left of a run, estimated from its last generations."""

    def __init__(self, max_iter: int) -> None:
        self._max_iter = max_iter
        self._recent: deque[float] = deque(maxlen=50)  # enough to include some held-out evaluations

    def after(self, generation: int, seconds: float) -> float:
        """Return the seconds left after a generation that took `seconds`."""
        self._recent.append(seconds)
        return max(self._max_iter - generation, 0) * sum(self._recent) / len(self._recent)


def left_title(config: Config) -> str:
    """Return what the time left is called: a target may end the run earlier."""
    return "left" if config.target_fitness is None else "at most"


def with_ends(columns: Mapping[str, int], max_iter: int, left: str = "left") -> dict[str, int]:
    """Return the widths of the columns, with the generation before them and the time left behind."""
    first = {"gen": max(len(str(max_iter)), 4)}
    rest = _WIDTH - sum(width + 1 for width in (first | dict(columns)).values())
    return first | dict(columns) | {left: min(rest, 11)}


class LogColumns:
    """Write text, and rows of cells with a header every 25; flush each, as a log is read while it grows."""

    def __init__(self, stream: TextIO, widths: Mapping[str, int]) -> None:
        self._stream, self._widths = stream, widths
        self._rows = 0
        self._passing = ""  # text on the terminal that the next line replaces

    def write(self, text: str) -> None:
        """Write text, in several lines if it is long."""
        lines = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
        for line in lines:
            self._write_line(line)

    def show(self, text: str) -> None:
        """Write text that the next line replaces, on a terminal."""
        self._print(self._over_passing(text), end="")
        self._passing = text

    def row(self, number: int, values: Sequence[float | str], left: float) -> None:
        """Write the number of a generation, a cell of each column, and the time left, as wide as they are."""
        if self._rows % _HEADER_EVERY == 0:
            self._align(list(self._widths))
        self._rows += 1
        widths = list(self._widths.values())
        cells = [
            value if isinstance(value, str) else compact(value, width)
            for value, width in zip(values, widths[1:-1], strict=True)
        ]
        self._align([str(number), *cells, duration(left, widths[-1])])

    def end(self) -> None:
        """End the line of text that none has replaced."""
        if self._passing:
            self._write_line(self._passing)

    def _align(self, cells: Sequence[str]) -> None:
        row = " ".join(cell.rjust(width) for cell, width in zip(cells, self._widths.values(), strict=True))
        self._write_line(row)

    def _write_line(self, line: str) -> None:
        self._print(self._over_passing(line), end="\n")
        self._passing = ""

    def _over_passing(self, text: str) -> str:
        return "\r" + text.ljust(len(self._passing)) if self._passing else text

    def _print(self, text: str, end: str) -> None:
        try:
            print(text, file=self._stream, end=end, flush=True)
        except BrokenPipeError:  # the reader has left: stop the run as the end of a terminal does
            if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # which would save nothing
                raise
            signal.raise_signal(signal.SIGHUP)
        except OSError as error:
            raise UserError(f"--console: cannot write ({error.strerror}); use silent") from error


class Lines:
    """Write a line for each generation.

    Args:
        progress: of the evaluation under way.
    """

    def __init__(self, stream: TextIO, progress: EvaluationProgress | None = None) -> None:
        self._stream, self._progress = stream, progress

    def start(self, config: Config, facts: Sequence[str], done: int) -> None:
        """Write the facts."""
        self._config = config
        columns = _FUNCTION_COLUMNS if config.function else _COLUMNS
        self._columns = LogColumns(self._stream, with_ends(columns, config.max_iter, left_title(config)))
        self._left = TimeLeft(config.max_iter)
        self._last_start: int | None = None  # of the generation before
        for fact in facts:
            self._columns.write(fact)
        self._done = done
        self._next = time.monotonic() + _LONG  # when progress is shown
        if self._progress and self._stream.isatty():
            self._progress.listener = self._episodes

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> None:
        """Write a line."""
        row = shown(self._config, row)
        if self._last_start is not None and row.start > self._last_start:
            self._columns.write(f"restart {row.start}: another draw, {row.popsize} candidates")
        self._last_start = row.start
        score = sign(self._config) * float(held_out.returns.mean()) if held_out else math.nan
        length = () if self._config.function else (row.mean_length,)
        values = (row.best, row.mean, row.fitness_of_centre, score, row.sigma, *length)
        values += (timing.steps_per_second, timing.total)
        self._columns.row(row.generation, values, self._left.after(row.generation, timing.total))
        self._done, self._next = row.generation, time.monotonic() + _LONG

    def finish(self, reason: str, held_out: HeldOut | None) -> None:
        """Write the score and the reason."""
        if held_out:
            score = mean_and_deviation(sign(self._config) * held_out.returns)
            name = "value of the mean" if self._config.function else "held-out mean"
            self._columns.write(f"{name} {score} at generation {held_out.generation}")
        self._columns.write(reason)

    def close(self) -> None:
        """Leave the stream to its owner, below what is shown."""
        if self._progress and self._progress.listener:
            self._progress.listener = None
            self._columns.end()

    def _episodes(self) -> None:
        """Show how far a long evaluation is."""
        if self._progress and time.monotonic() >= self._next:
            self._next = time.monotonic() + 1.0
            text = episodes_of(self._progress, self._config)
            self._columns.show(f"generation {self._done + 1}: {text}")


def episodes_of(progress: EvaluationProgress, config: Config) -> str:
    """Return how many episodes, or calls of a function, of an evaluation are over, as far as rank 0 knows."""
    kind = "calls" if config.function else "held-out episodes" if progress.held_out else "episodes"
    where = " of rank 0" if progress.share else ""
    return f"{kind}{where} {thousands(progress.done)} of {thousands(progress.total)}"
