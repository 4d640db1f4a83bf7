"""The members of a population as a table on a terminal, the best first."""

import math
from collections.abc import Sequence

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mpi_es.telemetry.view import Numbers
from mpi_es.text import counted, number


def draw(names: Sequence[str], numbers: Numbers, width: int, lines: int) -> list[RenderableType]:
    """Return a table of the best members: score, length, hyperparameters and the member that each copied.

    Args:
        names: of the hyperparameters; the last ones are omitted if they do not fit the width.
        lines: of the table, one of which says what is omitted.
    """
    scores = [value for name, value in numbers.items() if name.removeprefix("score/").isdigit()]
    count = len(scores)
    order = sorted(range(count), key=lambda i: (-scores[i] if math.isfinite(scores[i]) else math.inf, i))

    def column(title: str, name: str) -> list[str]:
        values = (numbers.get(f"{name}/{member}") for member in order)
        return [title, *("" if value is None else number(value) for value in values)]

    columns = [["member", *map(str, order)], column("score", "score"), column("length", "episode_length")]
    copies = column("copies", "copied")
    width -= sum(map(_width, [*columns, copies]))
    for name in names:
        values = column(name, name)
        width -= _width(values)
        if width < 0:
            break
        columns.append(values)
    hidden = len(names) - (len(columns) - 3)
    lines -= count > lines or hidden > 0
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for title, *_ in [*columns, copies]:
        table.add_column(escape(title), justify="right", no_wrap=True)
    for place, row in enumerate(zip(*(cells[1:] for cells in [*columns, copies]), strict=True)):
        if place < lines:
            table.add_row(*row, style="" if place else "bold")
    left_out = [(count - lines, "more member"), (hidden, "more hyperparameter")]
    rest = " and ".join(counted(number, noun) for number, noun in left_out if number > 0)
    return [table, Text(f"and {rest}", "dim")] if rest else [table]


def _width(cells: Sequence[str]) -> int:
    """Return the width of a column, with the space next to it."""
    return max(map(len, cells)) + 1
