"""A population as a table on a terminal, redrawn in place: one line per member."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel as Frame
from rich.styled import Styled
from rich.table import Table
from rich.text import Text

from mpi_es.run_file.records import HeldOut
from mpi_es.run_file.scores import deviation
from mpi_es.telemetry.lines import TimeLeft
from mpi_es.telemetry.terminal import Display, Sparkline
from mpi_es.text import counted, duration, number, thousands
from pbt.config import Config
from pbt.lineage import Generation
from pbt.members import describe
from pbt.selection import best

_LINES_AROUND = 7  # lines of a terminal that show no member
_MAX_WIDTH = 120  # columns
_FRAME = 4  # columns


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


def draw(data: TableData, elapsed: float, width: int, height: int) -> RenderableType:
    """Return the table: the best members first, as many as fit.

    Args:
        elapsed: seconds since the start.
    """
    config = data.config
    left = duration(max(0.0, data.left - (elapsed - data.at))) if data.latest else "?"
    generations = f"generation {thousands(data.number)} of {thousands(config.max_iter)}"
    head = Text(f"{generations}   {duration(elapsed)} elapsed   {left} left", no_wrap=True)
    parts: list[RenderableType] = [head]
    if data.latest:
        parts.append(Styled(Sparkline(data.best), "cyan"))
        parts += _members(data, data.latest, width - _FRAME, max(1, height - _LINES_AROUND))
    if data.held_out:
        returns, spread = data.held_out.returns, deviation(data.held_out.returns)
        around = "" if math.isnan(spread) else f", deviation {number(spread)},"
        text = f"held-out {number(float(returns.mean()))}{around} at generation {data.held_out.generation}"
        parts.append(Text(text, "green", no_wrap=True))
    rule = "no selection" if config.baseline else config.selection
    title = f"[bold]{escape(describe(config))}[/], {escape(rule)}, seed {config.seed}"
    return Frame(
        Group(*parts),
        title=title,
        title_align="left",
        subtitle=f"[dim]{escape(config.directory)}[/]",
        subtitle_align="left",
        border_style="cyan",
        width=width,
    )


def _members(data: TableData, done: Generation, width: int, room: int) -> list[RenderableType]:
    """Return the best members, each with score, length, hyperparameters and the member that it copied.

    Args:
        width: in columns, which leave out the last hyperparameters where there are many.
        room: in lines, of which one says what is left out.
    """
    winner, count = best(done.score), len(done.score)
    order = sorted(range(count), key=lambda member: (-_known(float(done.score[member])), member))
    copied = ["" if source == member else str(source) for member, source in enumerate(done.source.tolist())]
    columns = {
        "member": [str(member) for member in range(count)],
        "score": [number(value) for value in done.score.tolist()],
        "length": [number(value) for value in done.length.tolist()],
        "copies": copied,
    }
    values = {
        name: [*map(number, column)]
        for name, column in zip(data.names, done.hyperparameters.T.tolist(), strict=True)
    }
    named = _fitting(values, width - sum(map(_width, columns.items())))
    room -= count > room or len(named) < len(values)
    table = Table(box=None, pad_edge=False, header_style="dim")
    copies = columns.pop("copies")
    columns |= named | {"copies": copies}
    for title in columns:
        table.add_column(escape(title), justify="right", no_wrap=True)
    for member in order[:room]:
        style = "bold" if member == winner else ""
        table.add_row(*(cells[member] for cells in columns.values()), style=style)
    hidden = [(count - room, "more member"), (len(values) - len(named), "more hyperparameter")]
    rest = " and ".join(counted(number, noun) for number, noun in hidden if number > 0)
    return [table, Text(f"and {rest}", "dim")] if rest else [table]


def _fitting(columns: Mapping[str, list[str]], width: int) -> dict[str, list[str]]:
    """Return the first columns, as many as have room."""
    fitting: dict[str, list[str]] = {}
    for title, cells in columns.items():
        width -= _width((title, cells))
        if width < 0:
            break
        fitting[title] = cells
    return fitting


def _width(column: tuple[str, list[str]]) -> int:
    """Return the width of a column, with the space beside it."""
    title, cells = column
    return max(map(len, [title, *cells])) + 1


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
            facts, lambda elapsed, size: draw(self._data, elapsed, min(size.width, _MAX_WIDTH), size.height)
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

    def remark(self, text: str) -> None:
        """Print the text below the end."""
        self._display.finish(text)

    def close(self) -> None:
        """Give the terminal back."""
        self._display.close()
