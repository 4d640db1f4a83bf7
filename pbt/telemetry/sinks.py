"""The telemetry of a population: plain lines or a live table, and TensorBoard."""

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, TextIO

import numpy as np

from mpi_es.run_file.records import HeldOut, scalars
from mpi_es.telemetry.all_sinks import AllSinks, console_sinks
from mpi_es.telemetry.callback import Callback
from mpi_es.telemetry.lines import LogColumns, TimeLeft, with_ends
from pbt.config import Config
from pbt.lineage import Generation
from pbt.selection import best

_COLUMNS = {  # title: width
    "best": 7,
    "mean": 7,
    "member": 6,
    "copies": 6,
    "diverged": 8,
    "length": 6,
    "held-out": 8,
    "seconds": 7,
}


class PopulationSink(Protocol):
    """One place where a run shows its progress."""

    def start(self, config: Config, names: Sequence[str], facts: Sequence[str], done: int) -> None:
        """Begin, with the hyperparameters' names, lines about the run, and the number of generations done."""
        ...

    def generation(self, done: Generation, seconds: float, held_out: HeldOut | None) -> None:
        """Show a generation."""
        ...

    def finish(self, text: str) -> None:
        """Show why the run ended."""
        ...

    def remark(self, text: str) -> None:
        """Show a line below the end: where the run is drawn."""
        ...

    def close(self) -> None:
        """Give back terminal and files; also after an exception, also if nothing was started."""
        ...


Telemetry = AllSinks[PopulationSink]


class PopulationLines:
    """Write a line for each generation."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def start(self, config: Config, names: Sequence[str], facts: Sequence[str], done: int) -> None:
        """Write the facts."""
        self._columns = LogColumns(self._stream, with_ends(_COLUMNS, config.max_iter))
        self._left = TimeLeft(config.max_iter)
        for fact in facts:
            self._columns.write(fact)

    def generation(self, done: Generation, seconds: float, held_out: HeldOut | None) -> None:
        """Write a line."""
        winner = best(done.score)
        known = done.score[np.isfinite(done.score)]
        scores = (float(done.score[winner]), float(known.mean()))
        counts = (str(winner), str(done.copies), str(len(done.score) - len(known)))
        score = float(held_out.returns.mean()) if held_out else math.nan
        ends = (float(done.length[winner]), score, seconds)
        self._columns.row(done.number, (*scores, *counts, *ends), self._left.after(done.number, seconds))

    def finish(self, text: str) -> None:
        """Write the text."""
        self._columns.write(text)

    def remark(self, text: str) -> None:
        """Write the text."""
        self._columns.write(text)

    def close(self) -> None:
        """Leave the stream open: it is not ours."""


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
        self._events.write(done.number, tags(self._names, done, seconds, held_out))

    def finish(self, text: str) -> None:
        """Write nothing: events are numbers."""

    def remark(self, text: str) -> None:
        """Write nothing: events are numbers."""

    def close(self) -> None:
        """Close the file."""
        self._events.close()


class PopulationCallback:
    """Pass each generation to a callback of the user's."""

    def __init__(self, callback: Callback) -> None:
        self._callback = callback

    def start(self, config: Config, names: Sequence[str], facts: Sequence[str], done: int) -> None:
        """Begin, and note the hyperparameters' names."""
        self._callback.start(config)
        self._names = names

    def generation(self, done: Generation, seconds: float, held_out: HeldOut | None) -> None:
        """Pass on a generation."""
        self._callback.generation(done.number, dict(tags(self._names, done, seconds, held_out)))

    def finish(self, text: str) -> None:
        """Pass on the text."""
        self._callback.finish(text)

    def remark(self, text: str) -> None:
        """Pass on nothing: a callback ends once."""

    def close(self) -> None:
        """Close the callback."""
        self._callback.close()


def tags(
    names: Sequence[str], done: Generation, seconds: float, held_out: HeldOut | None
) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a generation under the names that TensorBoard and callbacks show."""
    winner = best(done.score)
    yield "score/best", float(done.score[winner])
    yield "score/mean", float(done.score[np.isfinite(done.score)].mean())
    for member, score in enumerate(done.score.tolist()):
        yield f"score/{member}", score
    yield "episode_length/best", float(done.length[winner])
    yield "copies", float(done.copies)
    yield "seconds/total", seconds
    yield from scalars(held_out) if held_out else ()
    for place, name in enumerate(names):
        for member, value in enumerate(done.hyperparameters[:, place].tolist()):
            yield f"{name}/{member}", value


def open_telemetry(config: Config, directory: Path, stream: TextIO | None = None) -> Telemetry:
    """Return the sinks of rank 0; among them a table if standard output ends on a terminal, or else lines."""
    from pbt.telemetry.table import LiveTable  # rich, which only rank 0 needs

    sinks: list[PopulationSink] = [Board(directory)] if config.tensorboard else []
    if config.callback:
        sinks.append(PopulationCallback(Callback(config.callback, directory)))
    return Telemetry(sinks + console_sinks(config.console, stream or sys.stdout, LiveTable, PopulationLines))
