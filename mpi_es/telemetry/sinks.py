"""The output of a run under way: rank 0 passes each generation to a console and to TensorBoard."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TextIO

from mpi_es.config.run import Config
from mpi_es.run_file.records import HeldOut, Row, Timing, summarize
from mpi_es.telemetry.all_sinks import AllSinks, console_sinks

__all__ = ["HeldOut", "Row", "Sink", "Telemetry", "Timing", "open_telemetry", "summarize"]


class Sink(Protocol):
    """A destination of a run's progress, such as a console."""

    def start(self, config: Config, facts: Sequence[str], done: int) -> None:
        """Begin, with facts about the run and the number of generations done."""
        ...

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> None:
        """Report a generation."""
        ...

    def finish(self, reason: str, held_out: HeldOut | None) -> None:
        """Report why the run ended, and an evaluation made after its last generation."""
        ...

    def close(self) -> None:
        """Release terminal and files; also after an exception, also before start."""
        ...


Telemetry = AllSinks[Sink]


def open_telemetry(config: Config, directory: str | Path, stream: TextIO | None = None) -> Telemetry:
    """Return the sinks of a run in `directory`: a panel if standard output ends on a terminal, else lines.

    Args:
        stream: another standard output.
    """
    # Imported here, so that the other ranks start without TensorBoard and rich.
    from mpi_es.telemetry.lines import Lines
    from mpi_es.telemetry.panel import LivePanel
    from mpi_es.telemetry.tensorboard import TensorBoard

    sinks: list[Sink] = [TensorBoard(Path(directory))] if config.tensorboard else []
    return Telemetry(sinks + console_sinks(config.console, stream or sys.stdout, LivePanel, Lines))
