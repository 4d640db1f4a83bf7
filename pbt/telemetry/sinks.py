"""What a population tells while it trains: plain lines or a live table, and TensorBoard."""

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol, TextIO

import numpy as np

from mpi_es.run_file.records import HeldOut, scalars
from mpi_es.telemetry.lines import LogColumns, TimeLeft
from mpi_es.text import clock, number
from pbt.config import Config
from pbt.lineage import Generation
from pbt.selection import best

_COLUMNS = {  # title: width
    "generation": 10,
    "best": 9,
    "mean": 9,
    "min": 9,
    "member": 6,
    "copies": 6,
    "diverged": 8,
    "length": 7,
    "held-out": 9,
    "seconds": 8,
    "left": 9,
}


class Sink(Protocol):
    """One place that a run tells its progress to."""

    def start(self, config: Config, names: Sequence[str], facts: Sequence[str], done: int) -> None:
        """Begin, with the hyperparameters' names and the generations that are done."""
        ...

    def generation(self, done: Generation, seconds: float, held_out: HeldOut | None) -> None:
        """Tell of a generation."""
        ...

    def finish(self, reason: str) -> None:
        """Tell why the run ended."""
        ...

    def close(self) -> None:
        """Give back terminal and files; also after an exception, also if nothing was started."""
        ...


class Telemetry(ExitStack):
    """All that a run tells, as a context manager, which closes every sink."""

    def __init__(self, sinks: Sequence[Sink] = ()) -> None:
        super().__init__()
        self._sinks = sinks
        for sink in sinks:
            self.callback(sink.close)

    def start(self, config: Config, names: Sequence[str], facts: Sequence[str], done: int) -> None:
        """Begin, with the hyperparameters' names and the generations that are done."""
        for sink in self._sinks:
            sink.start(config, names, facts, done)

    def generation(self, done: Generation, seconds: float, held_out: HeldOut | None) -> None:
        """Tell of a generation."""
        for sink in self._sinks:
            sink.generation(done, seconds, held_out)

    def finish(self, reason: str) -> None:
        """Tell why the run ended."""
        for sink in self._sinks:
            sink.finish(reason)


class Lines:
    """Write a line for each generation."""

    def __init__(self, stream: TextIO) -> None:
        self._columns = LogColumns(stream, _COLUMNS)

    def start(self, config: Config, names: Sequence[str], facts: Sequence[str], done: int) -> None:
        """Write the facts."""
        self._left = TimeLeft(config.max_iter)
        for fact in facts:
            self._columns.write(fact)

    def generation(self, done: Generation, seconds: float, held_out: HeldOut | None) -> None:
        """Write a line."""
        winner = best(done.score)
        known = done.score[np.isfinite(done.score)]
        scores = (done.score[winner], known.mean(), known.min())
        counts = (str(winner), str(done.copies), str(len(done.score) - len(known)))
        ends = (done.length[winner], held_out.returns.mean() if held_out else math.nan, seconds)
        left = clock(self._left.after(done.number, seconds))
        numbers = [number(float(value)) for value in (*scores, *ends)]
        self._columns.row([str(done.number), *numbers[:3], *counts, *numbers[3:], left])

    def finish(self, reason: str) -> None:
        """Write the reason."""
        self._columns.write(reason)

    def close(self) -> None:
        """Leave the stream to its owner."""


class Board:
    """Write TensorBoard's events: scores, and each hyperparameter of each member."""

    def __init__(self, directory: Path) -> None:
        from mpi_es.telemetry.tensorboard import TensorBoard  # TensorBoard takes a while to import

        self._events = TensorBoard(directory)

    def start(self, config: Config, names: Sequence[str], facts: Sequence[str], done: int) -> None:
        """Begin a file."""
        self._names = names
        self._events.start(config, facts, done)

    def generation(self, done: Generation, seconds: float, held_out: HeldOut | None) -> None:
        """Write a generation's scalars."""
        self._events.write(done.number, self._pairs(done, seconds, held_out))

    def _pairs(
        self, done: Generation, seconds: float, held_out: HeldOut | None
    ) -> Iterator[tuple[str, float]]:
        winner = best(done.score)
        yield "score/best", float(done.score[winner])
        yield "score/mean", float(done.score[np.isfinite(done.score)].mean())
        for member, score in enumerate(done.score.tolist()):
            yield f"score/{member}", score
        yield "episode_length/best", float(done.length[winner])
        yield "copies", float(done.copies)
        yield "seconds/total", seconds
        yield from scalars(held_out) if held_out else ()
        for place, name in enumerate(self._names):
            for member, value in enumerate(done.hyperparameters[:, place].tolist()):
                yield f"{name}/{member}", value

    def finish(self, reason: str) -> None:
        """Say nothing: there is no more to tell."""

    def close(self) -> None:
        """Close the file."""
        self._events.close()


def open_telemetry(config: Config, directory: Path, stream: TextIO | None = None) -> Telemetry:
    """Return what rank 0 tells of a run; a table where standard output ends on a terminal."""
    # Imported here, so that the other ranks start without rich.
    from mpi_es.telemetry.terminal import find_terminal
    from pbt.telemetry.table import LiveTable

    stream = stream or sys.stdout
    sinks: list[Sink] = [Board(directory)] if config.tensorboard else []
    terminal = find_terminal(stream) if config.console in ("auto", "live") else None
    if terminal is not None:
        sinks.append(LiveTable(terminal))
    elif config.console != "silent":
        sinks.append(Lines(stream))
    return Telemetry(sinks)
