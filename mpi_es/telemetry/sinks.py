"""What a run tells while it goes: a console and TensorBoard, each told once a generation by rank 0."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TextIO

from mpi_es.config.run import Config
from mpi_es.run_file.records import HeldOut, Row, Timing, summarize
from mpi_es.telemetry.all_sinks import AllSinks, console_sinks

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


Telemetry = AllSinks[Sink]


def open_telemetry(config: Config, directory: str | Path, stream: TextIO | None = None) -> Telemetry:
    """Return what rank 0 tells of a run in `directory`; a panel where standard output ends on a terminal.

    Args:
        stream: another standard output.
    """
    # Imported here, so that the other ranks start without TensorBoard and rich.
    from mpi_es.telemetry.lines import Lines
    from mpi_es.telemetry.panel import Panel
    from mpi_es.telemetry.tensorboard import TensorBoard

    sinks: list[Sink] = [TensorBoard(Path(directory))] if config.tensorboard else []
    return Telemetry(sinks + console_sinks(config.console, stream or sys.stdout, Panel, Lines))
