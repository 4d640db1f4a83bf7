"""A run's progress as a panel on a terminal, redrawn in place."""

import contextlib
import math
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np
from rich.console import Console, ConsoleDimensions, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel as Frame
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from mpi_es.config import Config
from mpi_es.console import TimeLeft, clock, number
from mpi_es.rows import HeldOut, Row, Timing

_LAUNCHERS = {"mpiexec", "mpiexec.hydra", "mpirun", "hydra_pmi_proxy", "prterun", "prted", "orterun", "orted"}
_LAUNCHERS |= {"mpiexec.mpich", "mpiexec.openmpi"[:15], "mpirun.openmpi", "mpirun.mpich"}  # Debian's
_BLOCKS = "▁▂▃▄▅▆▇█"
_WIDEST, _BESIDE_CURVE = 100, 16  # columns


def find_terminal(stream: TextIO) -> TextIO | None:
    """Return the terminal that `stream`, this process's standard output, ends on, if it does.

    A rank's output goes to its launcher, by a pipe or (Open MPI, srun -u) by a pseudo-terminal that nobody
    looks at. So the launcher's output decides: if that is a file or another pipe, it is a batch job.
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
    """Return columns and lines; rich would ask the standard streams, which are pipes below a launcher."""
    columns, lines = os.get_terminal_size(terminal.fileno())
    return ConsoleDimensions(columns or 80, lines or 24)  # a pseudo-terminal may not know


def sparkline(values: Sequence[float], width: int) -> str:
    """Draw values in at most `width` characters, each the mean of its share."""
    known = np.asarray([value for value in values if math.isfinite(value)])
    if len(known) == 0:
        return ""
    means = np.asarray([part.mean() for part in np.array_split(known, min(width, len(known)))])
    span = float(np.ptp(means))
    heights = (means - means.min()) / span if span > 0 else np.full(len(means), 0.5)
    return "".join(_BLOCKS[round(height * (len(_BLOCKS) - 1))] for height in heights.tolist())


@dataclass
class Course:
    """What a panel shows: where the run stands and how it came there."""

    config: Config
    done: int = 0  # generations
    left: float = math.nan  # seconds
    latest: tuple[Row, Timing] | None = None
    fitness: list[float] = field(default_factory=list)  # means of the populations
    held_out: list[HeldOut] = field(default_factory=list)


def draw(course: Course, gone: float, width: int) -> RenderableType:
    """Return the panel.

    Args:
        gone: seconds since the start.
    """
    config = course.config
    grid = _grid("", "curve")
    grid.add_row("generation", _progress(course, gone))
    if course.latest:
        row, timing = course.latest
        _add_scores(grid, course, row, width - _BESIDE_CURVE)
        _add_speeds(grid, row, timing)
    return Frame(
        grid,
        title=f"[bold]{escape(config.env)}[/] · {escape(config.strategy)} · seed {config.seed}",
        title_align="left",
        subtitle=f"[dim]{escape(config.directory)}[/]",
        subtitle_align="left",
        border_style="cyan",
        width=width,
    )


def _grid(*columns: str) -> Table:
    """Return a table without lines, in which the columns with a name share what room is left."""
    grid = Table.grid(padding=(0, 2), expand=True)
    for name in columns:
        grid.add_column(ratio=1 if name else None, no_wrap=not name, style="" if name else "dim")
    return grid


def _pairs(*pairs: tuple[str, str]) -> Text:
    """Return names, dim, and values."""
    text = Text()
    for name, value in pairs:
        text.append(f"{name} " if name else "", "dim").append(value.replace(" ", "\xa0")).append("  ")
    text.rstrip()
    return text


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 100 else f"{value:,.0f}"


def _progress(course: Course, gone: float) -> RenderableType:
    bar = _grid("", "bar", "")
    done = Text(f"{course.done} of {course.config.max_iter}", "bold not dim")
    left = "?" if math.isnan(course.left) else clock(course.left)
    times = Text.assemble((clock(gone), "not dim"), " gone  ", (left, "bold not dim"), " left")
    bar.add_row(done, ProgressBar(course.config.max_iter, course.done, complete_style="cyan"), times)
    return bar


def _add_scores(grid: Table, course: Course, row: Row, width: int) -> None:
    spread = [("best", row.best), ("mean", row.mean), ("min", row.min), ("std", row.std)]
    grid.add_row("fitness", _pairs(*((name, number(value)) for name, value in spread)))
    grid.add_row("", Text(sparkline(course.fitness, width), "cyan"))
    of = f"of {course.config.population_size}"
    above_mean = ("elite", f"{row.elite} {of}")
    if not math.isnan(row.mean_rank):
        above = ("candidates above it", f"{row.mean_rank:.0f} {of}")
        grid.add_row("of the mean", _pairs(("", number(row.mean_fitness)), above, above_mean))
    else:
        grid.add_row("above mean", _pairs(above_mean))
    if course.held_out:
        last, best = course.held_out[-1], max(course.held_out, key=lambda one: one.returns.mean())
        grid.add_row(
            Text("held-out", "not dim green"),
            _pairs(
                ("", f"{number(last.returns.mean())} ± {number(last.returns.std())}"),
                ("at generation", str(last.generation)),
                ("best", number(best.returns.mean())),
                ("at", str(best.generation)),
            ),
        )
        scores = [float(one.returns.mean()) for one in course.held_out]
        grid.add_row("", Text(sparkline(scores, width), "green"))


def _add_speeds(grid: Table, row: Row, timing: Timing) -> None:
    rate = [] if math.isnan(row.learning_rate) else [("learning rate", number(row.learning_rate))]
    length = number(row.mean_length) + (f" of {row.episode_cap}" if row.episode_cap else "")
    grid.add_row("sigma", _pairs(("", number(row.sigma)), *rate, ("episode length", length)))
    speeds = [("episodes/s", timing.episodes_per_second), ("steps/s", timing.steps_per_second)]
    idle = ("ranks idle", f"{timing.idle:.0%}")
    grid.add_row("speed", _pairs(*((name, number(value)) for name, value in speeds), idle))
    names = ("ask", "evaluate", "tell", "save", "total")
    grid.add_row("seconds", _pairs(*((name, _seconds(getattr(timing, name))) for name in names)))


class Panel:
    """Show a run on a terminal, redrawn twice a second."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._console = Console(file=terminal)
        self._live: Live | None = None

    def start(self, config: Config, facts: Sequence[str], done: int) -> None:
        """Print the facts and put the panel below."""
        self._course, self._begin = Course(config, done), time.monotonic()
        self._time_left = TimeLeft(config.max_iter)
        for fact in facts:
            self._console.print(fact, style="dim", highlight=False, markup=False)
        self._live = Live(console=self._console, get_renderable=self._render, refresh_per_second=2)
        self._live.start()
        self._console.show_cursor(True)  # after a SIGKILL nobody else would

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> None:
        """Keep what the next redraw shows."""
        course = self._course
        course.done, course.latest = row.generation, (row, timing)
        course.left = self._time_left.after(row.generation, timing.total)
        course.fitness.append(row.mean)
        if held_out:
            course.held_out.append(held_out)

    def finish(self, reason: str, held_out: HeldOut | None) -> None:
        """Leave the last panel where it is, with the reason below."""
        if held_out:
            self._course.held_out.append(held_out)
        self._stop()
        with contextlib.suppress(OSError):
            self._console.print(reason, highlight=False, markup=False)

    def close(self) -> None:
        """Give the terminal back."""
        self._stop()

    def _stop(self) -> None:
        if self._live:
            with contextlib.suppress(OSError):  # a terminal that is gone must not end a run
                self._live.stop()
            self._live = None

    def _render(self) -> RenderableType:
        # At each redraw, since a window may change.
        self._console.size = size = terminal_size(self._terminal)
        return draw(self._course, time.monotonic() - self._begin, min(size.width, _WIDEST))
