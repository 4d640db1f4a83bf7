"""A run's progress as plain lines, one for each generation, as in a log file."""

import math
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TextIO

from mpi_es.config.run import Config
from mpi_es.errors import UserError
from mpi_es.run_file.records import HeldOut, Row, Timing, shown, sign
from mpi_es.run_file.scores import mean_and_deviation
from mpi_es.text import clock, number

_COLUMNS = {  # title: width
    "generation": 10,
    "best": 8,
    "mean": 8,
    "min": 8,
    "of mean": 8,
    "rank": 5,
    "held-out": 8,
    "sigma": 9,
    "length": 7,
    "steps/s": 8,
    "idle": 4,
    "seconds": 8,
    "left": 9,
}
_FUNCTION_COLUMNS = {  # of what has no episodes
    {"min": "worst", "steps/s": "calls/s"}.get(title, title): width
    for title, width in _COLUMNS.items()
    if title not in ("length",)
}
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


class LogColumns:
    """Write text, and rows of cells with a header every 25; flush each, as a log is read while it grows."""

    def __init__(self, stream: TextIO, widths: Mapping[str, int]) -> None:
        self._stream, self._widths = stream, widths
        self._rows = 0

    def write(self, text: str) -> None:
        """Write a line of text; where its reader has left, stop the run as the end of a terminal does."""
        try:
            print(text, file=self._stream, flush=True)
        except BrokenPipeError:
            if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # which would save nothing
                raise
            signal.raise_signal(signal.SIGHUP)
        except OSError as error:
            raise UserError(f"--console: cannot write ({error.strerror}); use silent") from error

    def row(self, cells: Sequence[str]) -> None:
        """Write a cell of each column."""
        if self._rows % _HEADER_EVERY == 0:
            self._align(list(self._widths))
        self._rows += 1
        self._align(cells)

    def _align(self, cells: Sequence[str]) -> None:
        self.write(
            " ".join(cell.rjust(width) for cell, width in zip(cells, self._widths.values(), strict=True))
        )


class Lines:
    """Write a line for each generation."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def start(self, config: Config, facts: Sequence[str], done: int) -> None:
        """Write the facts."""
        self._config = config
        self._columns = LogColumns(self._stream, _FUNCTION_COLUMNS if config.function else _COLUMNS)
        self._left = TimeLeft(config.max_iter)
        self._last_start: int | None = None  # of the generation before
        for fact in facts:
            self._columns.write(fact)

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> None:
        """Write a line."""
        row = shown(self._config, row)
        if self._last_start is not None and row.start > self._last_start:
            self._columns.write(f"restart {row.start}: another draw, {row.popsize} candidates")
        self._last_start = row.start
        exact = (row.best, row.mean, row.min, row.fitness_of_centre, row.rank_of_centre)
        score = sign(self._config) * float(held_out.returns.mean()) if held_out else math.nan
        length = () if self._config.function else (row.mean_length,)
        rates = (row.sigma, *length, timing.steps_per_second)
        left = clock(self._left.after(row.generation, timing.total))
        numbers = map(number, (*exact, score, *rates))
        idle, seconds = f"{timing.idle:.0%}", number(timing.total)
        self._columns.row([str(row.generation), *numbers, idle, seconds, left])

    def finish(self, reason: str, held_out: HeldOut | None) -> None:
        """Write the score and the reason."""
        if held_out:
            score = mean_and_deviation(sign(self._config) * held_out.returns)
            name = "value of the mean" if self._config.function else "held-out mean"
            self._columns.write(f"{name} {score} at generation {held_out.generation}")
        self._columns.write(reason)

    def close(self) -> None:
        """Leave the stream to its owner."""
