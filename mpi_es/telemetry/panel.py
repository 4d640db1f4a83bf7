"""A run's progress as a panel on a terminal, redrawn in place."""

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.styled import Styled
from rich.table import Table
from rich.text import Text

from mpi_es.run_file.records import EvaluationProgress
from mpi_es.telemetry.lines import TimeLeft
from mpi_es.telemetry.terminal import Chart, Display
from mpi_es.telemetry.view import Numbers, View, pairs
from mpi_es.text import duration, number, thousands

_WIDEST, _WIDEST_TABLE = 100, 120  # columns
_CURVE, _AROUND_CURVE = 4, 14  # lines
_MOST_POINTS = 2000  # of a curve, which is drawn anew twice a second
_FRAME, _AROUND_TABLE = 4, 4  # columns and lines of the frame, the titles and the line below the table


@dataclass
class PanelData:
    """The data of the panel: the run's last generation, and its curves."""

    view: View
    done: int = 0  # generations
    left: float = math.nan  # seconds left after the last generation
    at: float = 0.0  # seconds from the start to that moment
    over: bool = False
    progress: EvaluationProgress = field(default_factory=EvaluationProgress)
    latest: Numbers = field(default_factory=dict)
    course: list[float] = field(default_factory=list)  # one value of `every` generations
    every: int = 1
    seen: int = 0  # generations
    held_out: list[Numbers] = field(default_factory=list)

    def add(self, numbers: Numbers) -> None:
        """Add a generation or an evaluation to the curves."""
        if self.view.course in numbers:
            self.seen += 1
            if self.seen % self.every == 0:
                self.course.append(numbers[self.view.course])
            if len(self.course) == _MOST_POINTS:
                self.course, self.every = self.course[1::2], 2 * self.every
        if "held_out/mean" in numbers:
            self.held_out.append(numbers)


def draw(data: PanelData, elapsed: float, width: int, height: int) -> RenderableType:
    """Return the panel.

    Args:
        elapsed: seconds since the start.
        height: lines of the terminal.
    """
    view = data.view
    grid = _grid("", "curve")
    grid.add_row("generation", _progress(data, elapsed))
    if data.progress.total:
        grid.add_row(view.episodes, _within(data.progress))
    parts: list[RenderableType] = [grid]
    if data.latest:
        for place, (title, values) in enumerate(view.scores(data.latest).items()):
            grid.add_row(title, _pairs(*values))
            if place == 0:
                grid.add_row("", Styled(Chart(data.course), "cyan"))
        if data.held_out:
            _add_held_out(grid, data, 1 if view.table else max(1, min(_CURVE, height - _AROUND_CURVE)))
        for title, values in view.speeds(data.latest).items():
            grid.add_row(title, _pairs(*values))
        if view.table:
            grid.columns[1].no_wrap = True  # so that each row takes one line
            lines = max(2, height - grid.row_count - _AROUND_TABLE)
            parts += view.table(data.latest, width - _FRAME, lines)
    return Panel(
        Group(*parts),
        title=f"[bold]{escape(view.name)}[/], {escape(view.details)}",
        title_align="left",
        subtitle=f"[dim]{escape(view.directory)}[/]",
        subtitle_align="left",
        border_style="cyan",
        width=width,
    )


def _grid(*columns: str) -> Table:
    """Return a table without lines, whose named columns share the remaining width."""
    grid = Table.grid(padding=(0, 2), expand=True)
    for name in columns:
        grid.add_column(ratio=1 if name else None, no_wrap=not name, style="" if name else "dim")
    return grid


def _pairs(*pairs: tuple[str, str]) -> Text:
    """Return names, dimmed, and values as one text."""
    text = Text()
    for name, value in pairs:
        text.append(f"{name} " if name else "", "dim").append(value.replace(" ", "\xa0")).append("  ")
    text.rstrip()
    return text


def _progress(data: PanelData, elapsed: float) -> RenderableType:
    """Return the number of generations done, and the time left, which counts down within a generation."""
    times = Text.assemble((duration(elapsed), "not dim"), " elapsed")
    if not (data.over or math.isnan(data.left)):
        left = duration(max(0.0, data.left - (elapsed - data.at)))
        most = "at most " if data.view.may_end_earlier else ""
        times.append(f"  {most}").append(left, "bold not dim").append(" left")
    return _bar(data.done, data.view.max_iter, times)


def _within(progress: EvaluationProgress) -> RenderableType:
    """Return the progress of the running evaluation."""
    words = (("held-out", progress.held_out), ("of rank 0", progress.share))
    return _bar(progress.done, progress.total, Text(" ".join(word for word, known in words if known)))


def _bar(done: int, total: int, text: Text) -> RenderableType:
    bar = _grid("", "bar", "")
    count = Text(f"{thousands(done)} of {thousands(total)}", "bold not dim")
    bar.add_row(count, ProgressBar(total, done, complete_style="cyan", finished_style="cyan"), text)
    return bar


def _add_held_out(grid: Table, data: PanelData, lines: int) -> None:
    """Add the held-out scores, with a curve of `lines` lines."""
    choose = min if data.view.minimise else max
    last, best = data.held_out[-1], choose(data.held_out, key=lambda one: one["held_out/mean"])
    values = pairs(last, {"": "held_out/mean", "deviation": "held_out/std"})
    values.append(("at generation", thousands(last["generation"])))
    values += [("best", number(best["held_out/mean"])), ("at", thousands(best["generation"]))]
    grid.add_row(Text("held-out", "not dim green"), _pairs(*values))
    grid.add_row("", Styled(Chart([one["held_out/mean"] for one in data.held_out], lines), "green"))


class LivePanel:
    """Show a run on a terminal, redrawn twice a second.

    Args:
        past: the numbers of earlier generations.
        progress: of the running evaluation.
    """

    def __init__(
        self,
        terminal: TextIO,
        view: View,
        past: Iterable[Numbers] = (),
        progress: EvaluationProgress | None = None,
    ) -> None:
        self._display = Display(terminal)
        self._data = PanelData(view, progress=progress or EvaluationProgress())
        for numbers in past:
            self._data.add(numbers)
        self._time_left = TimeLeft(view.max_iter)

    def start(self, facts: Sequence[str], done: int) -> None:
        """Print the facts and put the panel below."""
        self._data.done, self._begin = done, time.monotonic()
        widest = _WIDEST_TABLE if self._data.view.table else _WIDEST
        self._display.start(
            facts, lambda elapsed, size: draw(self._data, elapsed, min(size.width, widest), size.height)
        )

    def generation(self, numbers: Numbers) -> None:
        """Store the numbers that the next redraw shows."""
        data = self._data
        data.add(numbers)
        if data.view.course in numbers:
            data.done, data.latest = int(numbers["generation"]), numbers
            data.left, data.at = self._time_left.after(numbers), time.monotonic() - self._begin

    def finish(self, text: str) -> None:
        """Leave the last panel on the terminal, and print the text below."""
        self._data.over = True
        self._display.finish(text)

    def close(self) -> None:
        """Release the terminal."""
        self._display.close()
