"""Find the terminal that shows a run, and redraw its last lines in place."""

import contextlib
import math
import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np
from rich.console import Console, ConsoleDimensions, RenderableType
from rich.live import Live

_LAUNCHERS = {"mpiexec", "mpiexec.hydra", "mpirun", "hydra_pmi_proxy", "prterun", "prted", "orterun", "orted"}
_LAUNCHERS |= {"mpiexec.mpich", "mpiexec.openmpi"[:15], "mpirun.openmpi", "mpirun.mpich"}  # Debian's
_BLOCKS = "▁▂▃▄▅▆▇█"
Draw = Callable[[float, ConsoleDimensions], RenderableType]  # seconds since the start, room


def find_terminal(stream: TextIO) -> TextIO | None:
    """Return the terminal at which `stream`, the standard output of this process, ends, or None.

    A rank's output goes to its launcher, by a pipe or (Open MPI, srun -u) by a pseudo-terminal that no user
    sees. So the output of the launcher decides: a file or another pipe means a batch job.
    """
    if os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
        return None
    try:
        if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return None
        output = _launcher_output(os.getppid())
        if output is None:
            return stream if stream.isatty() else None
        if not output.is_char_device():
            return None
        terminal = os.fdopen(os.open(output, os.O_WRONLY | os.O_NOCTTY), "w", encoding="utf-8")
    except OSError:
        return None
    return terminal if terminal.isatty() else None


def _launcher_output(process: int) -> Path | None:
    """Return standard output of the outermost launcher above us; None if there is none."""
    output = None
    while (name := _status(process, "comm").strip()) in _LAUNCHERS:
        output = Path("/proc", str(process), "fd", "1")
        process = int(_status(process, "stat").rpartition(")")[2].split()[1])
    if output is None and name == "slurmstepd" and "SLURM_PTY_PORT" not in os.environ:
        return Path(os.devnull)
    return output


def _status(process: int, name: str) -> str:
    path = Path("/proc", str(process), name)
    return path.read_text() if path.exists() else ""  # there is no /proc on macOS


def terminal_size(terminal: TextIO) -> ConsoleDimensions:
    """Return columns and lines; rich would ask the standard streams, which are pipes under a launcher."""
    columns, lines = os.get_terminal_size(terminal.fileno())
    return ConsoleDimensions(columns or 80, lines or 24)  # a pseudo-terminal may have no size


class Display:
    """The last lines of a terminal, redrawn twice a second."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._console = Console(file=terminal)
        self._live: Live | None = None

    def start(self, facts: Sequence[str], draw: Draw) -> None:
        """Print the facts and begin to draw below."""
        begin = time.monotonic()

        def render() -> RenderableType:
            # At each redraw, since the window may be resized.
            self._console.size = size = terminal_size(self._terminal)
            return draw(time.monotonic() - begin, size)

        for fact in facts:
            self._console.print(fact, style="dim", highlight=False, markup=False)
        self._live = Live(console=self._console, get_renderable=render, refresh_per_second=2)
        self._live.start()
        self._console.show_cursor(True)  # after a SIGKILL nothing else shows it

    def finish(self, reason: str) -> None:
        """Leave the last drawing on the terminal, and print the reason below."""
        self.close()
        with contextlib.suppress(OSError):
            self._console.print(reason, highlight=False, markup=False)

    def close(self) -> None:
        """Release the terminal."""
        if self._live:
            with contextlib.suppress(OSError):  # a closed terminal must not end a run
                self._live.stop()
            self._live = None


def sparkline(values: Sequence[float], width: int) -> str:
    """Draw values in at most `width` characters, each the mean of its share."""
    known = np.asarray([value for value in values if math.isfinite(value)])
    if len(known) == 0:
        return ""
    means = np.asarray([part.mean() for part in np.array_split(known, max(1, min(width, len(known))))])
    span = float(np.ptp(means))
    heights = (means - means.min()) / span if span > 0 else np.full(len(means), 0.5)
    return "".join(_BLOCKS[round(height * (len(_BLOCKS) - 1))] for height in heights.tolist())
