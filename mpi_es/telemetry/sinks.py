"""The output of a run: rank 0 passes the numbers of each generation to all of its sinks."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from mpi_es.extras import needs
from mpi_es.run_file.checkpoint import NOWHERE
from mpi_es.run_file.records import EvaluationProgress
from mpi_es.telemetry.view import Numbers, View


class Sink(Protocol):
    """A destination of a run's progress, such as a console. Rank 0 alone has sinks.

    A generation is reported before it is saved, so a sink's own file may be ahead of run.h5 when a run is
    resumed. A failed write raises UserError with the option that switches the sink off.
    """

    def start(self, facts: Sequence[str], done: int) -> None:
        """Begin, with facts about the run and the number of generations that run.h5 holds."""
        ...

    def generation(self, numbers: Numbers) -> str | None:
        """Report a generation; return the reason if the run is to end after it.

        An evaluation after the last generation has only `generation` and the numbers of the evaluation.
        """
        ...

    def finish(self, text: str) -> None:
        """Report why the run ended."""
        ...

    def close(self) -> None:
        """Release terminal and files; also after an exception, also before start."""
        ...


class Telemetry(ExitStack):
    """All sinks of a run, which are closed however it ends; without sinks it is silent."""

    def __init__(self, sinks: Sequence[Sink] = ()) -> None:
        super().__init__()
        self._sinks = sinks
        for sink in sinks:
            self.callback(sink.close)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Close all sinks; raise the error that ended the run rather than a later one of a sink."""
        try:
            super().__exit__(kind, error, trace)
        except Exception:
            if error is None:
                raise

    def start(self, facts: Sequence[str], done: int) -> None:
        """Start all sinks."""
        for sink in self._sinks:
            sink.start(facts, done)

    def generation(self, numbers: Numbers) -> str:
        """Report a generation; return why the run is to end; empty if it continues."""
        reasons = [sink.generation(numbers) for sink in self._sinks]
        return next(filter(None, reasons), "")

    def finish(self, text: str) -> None:
        """Report why the run ended."""
        for sink in self._sinks:
            sink.finish(text)


def events_missing(config: Any, directory: Path) -> str:
    """Return a note if the package for TensorBoard events is missing; else an empty text."""
    if not config.tensorboard or directory == NOWHERE or find_spec("tensorboard"):
        return ""
    return f"no TensorBoard events: --tensorboard {needs('tensorboard')}"


def open_telemetry(
    config: Any,
    directory: Path,
    view: View,
    past: Iterable[Numbers] = (),
    progress: EvaluationProgress | None = None,
) -> Telemetry:
    """Return the sinks that the config asks for, among them one console: panel, lines or a notebook's line.

    Args:
        view: what the console shows.
        past: the numbers of earlier generations, which the panel draws.
        progress: of the running evaluation, for the console.
    """
    # Imported here, so that the other ranks start without TensorBoard and rich.
    from mpi_es.telemetry.callback import Callback
    from mpi_es.telemetry.lines import Lines
    from mpi_es.telemetry.notebook import NotebookLine, find_cell
    from mpi_es.telemetry.panel import LivePanel
    from mpi_es.telemetry.terminal import find_terminal, tolerate

    sinks: list[Sink] = []
    if config.tensorboard and directory != NOWHERE and find_spec("tensorboard"):
        from mpi_es.telemetry.tensorboard import TensorBoard

        sinks.append(TensorBoard(config, directory))
    if config.callback:
        sinks.append(Callback(config, directory))
    chooses = config.console in ("auto", "live")
    cell = find_cell() if chooses else None
    tolerate(sys.stdout)
    terminal = find_terminal(sys.stdout) if chooses else None
    if cell:
        sinks.append(NotebookLine(cell, view, progress))
    elif terminal:
        sinks.append(LivePanel(terminal, view, past, progress))
    elif config.console != "silent":
        sinks.append(Lines(sys.stdout, view))
    return Telemetry(sinks)
