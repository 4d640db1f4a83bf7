"""What a run tells while it goes: a console and TensorBoard, each told once a generation by rank 0."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol, TextIO

from mpi_es.config.run import Config
from mpi_es.run_file.records import HeldOut, Row, Timing, summarize

__all__ = ["HeldOut", "Row", "Sink", "Telemetry", "Timing", "open_telemetry", "summarize"]


class Sink(Protocol):
    """One place that a run tells its progress to."""

    def start(self, config: Config, facts: Sequence[str], done: int) -> None:
        """Begin, with what there is to know about the run and the generations that it has behind it."""
        ...

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> None:
        """Tell of a generation."""
        ...

    def finish(self, reason: str, held_out: HeldOut | None) -> None:
        """Tell why the run ended, and of an evaluation that was made after its last generation."""
        ...

    def close(self) -> None:
        """Give back terminal and files; also after an exception, also if nothing was started."""
        ...


class Telemetry(ExitStack):
    """All that a run tells, as a context manager, which closes every sink.

    Without sinks it is silent, as on all ranks but rank 0.
    """

    def __init__(self, sinks: Sequence[Sink] = ()) -> None:
        super().__init__()
        self._sinks = sinks
        for sink in sinks:
            self.callback(sink.close)

    def start(self, config: Config, facts: Sequence[str], done: int = 0) -> None:
        """Begin, with what there is to know about the run and the generations that it has behind it."""
        for sink in self._sinks:
            sink.start(config, facts, done)

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None = None) -> None:
        """Tell of a generation."""
        for sink in self._sinks:
            sink.generation(row, timing, held_out)

    def finish(self, reason: str, held_out: HeldOut | None = None) -> None:
        """Tell why the run ended, and of an evaluation that was made after its last generation."""
        for sink in self._sinks:
            sink.finish(reason, held_out)


def open_telemetry(config: Config, directory: str | Path, stream: TextIO | None = None) -> Telemetry:
    """Return what rank 0 tells of a run in `directory`; a panel where standard output ends on a terminal.

    Args:
        stream: another standard output.
    """
    # Imported here, so that the other ranks start without TensorBoard and rich.
    from mpi_es.telemetry.lines import Lines
    from mpi_es.telemetry.panel import Panel
    from mpi_es.telemetry.tensorboard import TensorBoard
    from mpi_es.telemetry.terminal import find_terminal

    stream = stream or sys.stdout
    sinks: list[Sink] = [TensorBoard(Path(directory))] if config.tensorboard else []
    terminal = find_terminal(stream) if config.console in ("auto", "live") else None
    if terminal is not None:
        sinks.append(Panel(terminal))
    elif config.console != "silent":
        sinks.append(Lines(stream))
    return Telemetry(sinks)
