"""A population as a table on a terminal, redrawn in place: one line per member."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel as Frame
from rich.table import Table
from rich.text import Text

from mpi_es.run_file.records import HeldOut
from mpi_es.run_file.scores import mean_and_deviation
from mpi_es.telemetry.lines import TimeLeft
from mpi_es.telemetry.terminal import Display, sparkline
from mpi_es.text import clock, number
from pbt.config import Config
from pbt.lineage import Generation
from pbt.members import describe
from pbt.selection import best

_LINES_AROUND = 7  # lines of a terminal that show no member
_MAX_WIDTH = 120  # columns
_NUMBER_WIDTH = 6  # columns of a number, such as -200.5


@dataclass
class TableData:
    """What the table shows: the run's latest generation and the scores before it."""

    config: Config
    names: Sequence[str]
    number: int = 0  # of generations that are done
    left: float = 0.0  # seconds to the end, when the latest generation was done
    at: float = 0.0  # seconds from the start until then
    latest: Generation | None = None
    held_out: HeldOut | None = None
    best: list[float] = field(default_factory=list)


def draw(data: TableData, gone: float, width: int, height: int) -> RenderableType:
    """Return the table: the best members first, as many as fit.

    Args:
        gone: seconds since the start.
    """
    config = data.config
    left = clock(max(0.0, data.left - (gone - data.at))) if data.latest else "?"
    parts: list[RenderableType] = [
        Text(f"generation {data.number} of {config.max_iter}   {clock(gone)} gone   {left} left"),
    ]
    if data.latest:
        parts.append(Text(sparkline(data.best, width - 4), "cyan"))
        parts.append(_members(data, data.latest, max(1, height - _LINES_AROUND)))
    if data.held_out:
        returns = data.held_out.returns
        text = f"held-out {mean_and_deviation(returns)} at {data.held_out.generation}"
        parts.append(Text(text, "green"))
    title = f"[bold]{escape(describe(config))}[/] · {escape(config.selection)} · seed {config.seed}"
    return Frame(
        Group(*parts),
        title=title,
        title_align="left",
        subtitle=f"[dim]{escape(config.directory)}[/]",
        subtitle_align="left",
        border_style="cyan",
        width=width,
    )


def _members(data: TableData, done: Generation, room: int) -> Table:
    """Return one line per member: score, length, hyperparameters, and which member it copied."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("member", "score", "length", *data.names, "copies"):
        least = 1 if title in data.names else _NUMBER_WIDTH  # a narrow terminal cuts hyperparameters
        table.add_column(escape(title), justify="right", no_wrap=True, min_width=least)
    winner = best(done.score)
    order = sorted(range(len(done.score)), key=lambda member: (-_known(float(done.score[member])), member))
    for member in order[:room]:
        source = int(done.source[member])
        values = map(number, done.hyperparameters[member].tolist())
        cells = (number(float(done.score[member])), number(float(done.length[member])), *values)
        style = "bold" if member == winner else ""
        table.add_row(str(member), *cells, "" if source == member else str(source), style=style)
    return table


def _known(score: float) -> float:
    return score if math.isfinite(score) else -math.inf


class LiveTable:
    """Show a population on a terminal, redrawn twice a second."""

    def __init__(self, terminal: TextIO) -> None:
        self._display = Display(terminal)

    def start(self, config: Config, names: Sequence[str], facts: Sequence[str], done: int) -> None:
        """Print the facts, and the table below them."""
        self._data, self._time_left = TableData(config, names, done), TimeLeft(config.max_iter)
        self._begin = time.monotonic()
        self._display.start(
            facts, lambda gone, size: draw(self._data, gone, min(size.width, _MAX_WIDTH), size.height)
        )

    def generation(self, done: Generation, seconds: float, held_out: HeldOut | None) -> None:
        """Note what the next redraw shows."""
        data = self._data
        data.number, data.latest = done.number, done
        data.left, data.at = self._time_left.after(done.number, seconds), time.monotonic() - self._begin
        data.best.append(float(done.score[best(done.score)]))
        data.held_out = held_out or data.held_out

    def finish(self, text: str) -> None:
        """Leave the last table where it is, and print the text below it."""
        self._display.finish(text)

    def close(self) -> None:
        """Give the terminal back."""
        self._display.close()
