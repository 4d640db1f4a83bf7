"""The output of a run under way: rank 0 passes each generation to all of its sinks."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TextIO

from mpi_es.config.run import Config
from mpi_es.run_file.history import History
from mpi_es.run_file.records import EvaluationProgress, HeldOut, Row, Timing, summarize
from mpi_es.telemetry.all_sinks import AllSinks, console_sinks

__all__ = ["HeldOut", "Row", "Sink", "Telemetry", "Timing", "open_telemetry", "summarize"]


class Sink(Protocol):
    """A destination of a run's progress, such as a console. Rank 0 alone has sinks.

    A generation is reported before it is saved: a file of the sink's own may be ahead of run.h5 when a run is
    resumed. A write that fails raises UserError with the option that switches the sink off.
    """

    def start(self, config: Config, facts: Sequence[str], done: int) -> None:
        """Begin, with facts about the run and the number of generations that run.h5 holds."""
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


def open_telemetry(
    config: Config,
    directory: str | Path,
    stream: TextIO | None = None,
    history: History | None = None,
    progress: EvaluationProgress | None = None,
) -> Telemetry:
    """Return the sinks that the config asks for; of a panel and lines the one that suits standard output.

    Args:
        stream: another standard output.
        history: of a run that is continued.
        progress: of the evaluation under way, for the console.
    """
    # Imported here, so that the other ranks start without TensorBoard and rich.
    from mpi_es.telemetry.callback import Callback, CallbackSink
    from mpi_es.telemetry.lines import Lines
    from mpi_es.telemetry.panel import LivePanel

    path = Path(directory)
    steps = history.steps if history else 0
    sinks: list[Sink] = []
    if config.tensorboard:
        from mpi_es.telemetry.tensorboard import TensorBoard

        sinks.append(TensorBoard(path, steps))
    if config.callback:
        sinks.append(CallbackSink(Callback(config.callback, path), steps))
    console: list[Sink] = console_sinks(
        config.console,
        stream or sys.stdout,
        lambda terminal: LivePanel(terminal, progress, history),
        lambda out: Lines(out, progress),
    )
    return Telemetry(sinks + console)
