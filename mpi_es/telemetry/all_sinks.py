"""The sinks of a run together: all are closed however the run ends, and one of them is on the console."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Generic, Protocol, TextIO, TypeVar


class Closable(Protocol):
    """What every sink has, whatever its run reports."""

    def close(self) -> None:
        """Give back terminal and files; also after an exception, also if nothing was started."""
        ...


S = TypeVar("S", bound=Closable)


class AllSinks(ExitStack, Generic[S]):
    """Sinks to iterate over, and a context manager that closes each of them; without sinks it is silent."""

    def __init__(self, sinks: Sequence[S] = ()) -> None:
        super().__init__()
        self._sinks = sinks
        for sink in sinks:
            self.callback(sink.close)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Close all; what ended the run is raised, not what a sink met at its close after that."""
        try:
            super().__exit__(kind, error, trace)
        except Exception:
            if error is None:
                raise

    def __iter__(self) -> Iterator[S]:
        return iter(self._sinks)


def console_sinks(
    choice: str, stream: TextIO, live: Callable[[TextIO], S], lines: Callable[[TextIO], S]
) -> list[S]:
    """Return the sink for --console: live on a terminal, lines elsewhere, none if it is silent.

    Args:
        choice: auto, live, lines or silent.
        stream: standard output.
    """
    from mpi_es.telemetry.terminal import find_terminal, tolerate  # rich, which only rank 0 needs

    tolerate(stream)
    terminal = find_terminal(stream) if choice in ("auto", "live") else None
    if terminal is not None:
        return [live(terminal)]
    return [] if choice == "silent" else [lines(stream)]
