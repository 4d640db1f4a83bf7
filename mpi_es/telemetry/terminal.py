"""Find the terminal that shows a run, and redraw its last lines in place."""

import codecs
import contextlib
import io
import math
import os
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np
from rich.console import Console, ConsoleDimensions, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.text import Text

from mpi_es.text import number

_LAUNCHERS = {"mpiexec", "mpiexec.hydra", "mpirun", "hydra_pmi_proxy", "prterun", "prted", "orterun", "orted"}
_LAUNCHERS |= {"mpiexec.mpich", "mpiexec.openmpi"[:15], "mpirun.openmpi", "mpirun.mpich"}  # Debian's
_BLOCKS, _ASCII_BLOCKS = "▁▂▃▄▅▆▇█", "_.-=*#"
_PLAIN = {"±": "+/-", "\xa0": " ", "…": "."}  # what a terminal without UTF-8 shows instead
Draw = Callable[[float, ConsoleDimensions], RenderableType]  # seconds since the start, room
_BELOW = 2  # lines that MPICH's mpiexec prints on Ctrl-C
_SAVE, _RESTORE = f"\x1b[{_BELOW}A\x1b7", f"\x1b8\x1b[{_BELOW}B"  # the cursor's position, above that room


def find_terminal(stream: TextIO) -> TextIO | None:
    """Return the terminal that shows `stream`, the standard output of this process, or None.

    A rank's output goes to its launcher, through a pipe or (Open MPI, srun -u) a pseudo-terminal that no user
    sees. So the launcher's output decides: a file or another pipe means a batch job.
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
        descriptor = os.open(output, os.O_WRONLY | os.O_NOCTTY)
        terminal = os.fdopen(descriptor, "w", encoding=stream.encoding, errors=_ERRORS)
    except OSError:
        return None
    return terminal if terminal.isatty() else None


def _launcher_output(process: int) -> Path | None:
    """Return the standard output of the outermost launcher above this process; None if there is none."""
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


class Anchor:
    """A terminal that finds a drawing again after other output in the room below it."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self.holds = self._held = False

    def write(self, text: str) -> int:
        """Write from where the last text ended."""
        before, after = _RESTORE if self._held else "", _SAVE if self.holds else ""
        self._held = self.holds
        return self._terminal.write(before + text + after)

    def __getattr__(self, name: str) -> Any:
        """Forward everything else to the terminal."""
        return getattr(self._terminal, name)


class Display:
    """The last lines of a terminal, redrawn twice a second."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal, self._anchor = terminal, Anchor(terminal)
        self._console = Console(file=cast(TextIO, self._anchor))
        self._live: Live | None = None

    def start(self, facts: Sequence[str], draw: Draw) -> None:
        """Print the facts, and start drawing below them."""
        begin = time.monotonic()

        def render() -> RenderableType:
            # Read at each redraw, since the window may be resized.
            columns, lines = terminal_size(self._terminal)
            self._console.size = size = ConsoleDimensions(columns, max(lines - _BELOW, 1))
            drawn = draw(time.monotonic() - begin, size)
            # And an empty line below, for the ^C, which at the end of a full line would shift everything.
            return Group(drawn, *[""] * (1 + _BELOW)) if self._live else drawn

        for fact in facts:
            self._console.print(fact, style="dim", highlight=False, markup=False)
        self._live = Live(console=self._console, get_renderable=render, refresh_per_second=2)
        self._anchor.holds = True
        self._live.start()
        self._console.show_cursor(True)  # after a SIGKILL nothing would show it again

    def finish(self, reason: str) -> None:
        """Leave the last drawing on the terminal, and print the reason below."""
        self.close()
        with contextlib.suppress(OSError):
            self._console.print(reason, highlight=False, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Release the terminal."""
        live, self._live = self._live, None
        self._anchor.holds = False
        if live:
            with contextlib.suppress(OSError):  # a closed terminal must not end a run
                live.stop()


def tolerate(stream: TextIO) -> None:
    """Never raise on unencodable characters: replace them."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=_ERRORS)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Replace unencodable characters; a handler for codecs.register_error."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in text), error.end


_ERRORS = "mpi_es.plain"
codecs.register_error(_ERRORS, _plain)


@dataclass(frozen=True)
class Chart:
    """Values as columns of blocks that fill the width; with several lines, the extremes are labelled."""

    values: Sequence[float]
    lines: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        blocks = _ASCII_BLOCKS if options.ascii_only else _BLOCKS
        known = [value for value in self.values if math.isfinite(value)]
        ends = [number(max(known, default=math.nan)), number(min(known, default=math.nan))]
        width = options.max_width - max(map(len, ends)) - 2
        if self.lines < 2 or width < 1 or len(known) < 2:
            yield Text(*chart(known, options.max_width, 1, blocks))
            return
        labels = [ends[0], *[""] * (self.lines - 2), ends[1]]
        for line, label in zip(chart(known, width, self.lines, blocks), labels, strict=True):
            yield Text.assemble(line, "  ", (label, "dim"), no_wrap=True)


def chart(values: Sequence[float], width: int, lines: int, blocks: str = _BLOCKS) -> list[str]:
    """Draw finite values as blocks: a line of at most `width` characters, or an area of several lines.

    Args:
        blocks: from the lowest to the full block; the lowest value gets the lowest.
    """
    parts = np.array_split(np.asarray(values), max(1, min(width, len(values))))
    means = np.asarray([part.mean() for part in parts if len(part)])
    span = np.ptp(means) if len(means) else 0.0
    # Equal values: the middle.
    heights = (means - means.min()) / span if span > 0 else np.full(len(means), 0.5)
    if lines > 1:  # an area fills the whole width
        heights = np.interp(np.linspace(0, len(heights) - 1, width), np.arange(len(heights)), heights)
    levels = 1 + np.rint(heights * (lines * len(blocks) - 1)).astype(int)
    filled = [np.clip(levels - line * len(blocks), 0, len(blocks)) for line in reversed(range(lines))]
    return ["".join((" " + blocks)[level] for level in row) for row in filled]
