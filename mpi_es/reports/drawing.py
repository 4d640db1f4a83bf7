"""Panels by matplotlib, without a screen: one as SVG with the marks of its key, or several as one PNG."""

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from mpi_es.arrays import Vector
from mpi_es.text import number, thousands

# The colours of Okabe and Ito, which colour-blind people can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
WIDE, NARROW, SMALL = (11.0, 3.6), (3.7, 2.8), (2.4, 2.0)  # inches; letters are of one size on the page
_STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.xmargin": 0.02,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "none",  # letters stay letters: small, crisp and found by a search
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_MANY = 4000  # points of an artist: more are painted, since their outlines would be megabytes
_DPI = 160
_DECADES = 3  # values that span more may be drawn on a logarithmic axis
_UNITS = (("s", 1.0), ("min", 60.0), ("h", 3600.0))  # two minutes are still 120 s
_LONG = 7  # characters of a number of which fewer fit below an axis
# Attributes that a page does not need: its style sets the size, HTML knows the namespaces, and nothing
# refers to the names that matplotlib numbers anew in each figure.
_NEEDLESS = re.compile(r' (?:width|height)="[\d.]+pt"| xmlns(?::xlink)?="[^"]*"| id="[a-zA-Z0-9.]+_\d+"')


@dataclass(frozen=True)
class Panel:
    """A drawing of its own."""

    title: str
    across: str  # what x is
    draw: Callable[[Axes], None]
    unit: float = 1.0  # of x, in which its labels count
    up: str = ""  # what y is, where the title does not say it
    whole: bool = True  # x counts something


@dataclass(frozen=True)
class Mark:
    """How something is drawn, for a key."""

    label: str
    colour: str
    dash: str = "-"
    width: float = 1.2
    point: bool = False
    band: bool = False
    alpha: float = 1.0


@dataclass(frozen=True)
class Drawing:
    """A panel as SVG, and the marks of its key."""

    svg: str
    marks: list[Mark]


def drawn(panel: Panel, size: tuple[float, float] = NARROW) -> Drawing:
    """Draw a panel.

    Args:
        size: width and height in inches, on which depends how large the letters are.
    """
    with mpl.rc_context({**_STYLE, "svg.hashsalt": f"{panel.title} {panel.across} {size}"}):
        figure = Figure(size)
        axes = figure.subplots()
        _fill(axes, panel)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata=_NO_METADATA, transparent=True)
        text = buffer.getvalue()
    return Drawing(_inline(text[text.index("<svg") :], f"{panel.title} by {panel.across}"), marks(axes))


def drawn_wide(panel: Panel) -> tuple[Drawing, Drawing]:
    """Draw a panel for a wide and for a narrow screen."""
    return drawn(panel, WIDE), drawn(panel, NARROW)


def picture(panels: Sequence[Panel], columns: int) -> bytes:
    """Return panels row by row as one PNG, with one legend above."""
    rows = -(-len(panels) // columns)
    width, height = (3.4, 2.7) if columns > 1 else (9.0, 2.4)
    with mpl.rc_context(_STYLE):
        figure = Figure((columns * width, rows * height + 0.4))
        places = figure.subplots(rows, columns, squeeze=False).ravel()
        for place, panel in zip(places, panels, strict=False):
            _fill(place, panel)
        for place in places[len(panels) :]:
            place.set_visible(False)
        handles = {label: handle for place in places for handle, label in _named(place)}
        figure.legend([*handles.values()], [*handles], loc="outside upper left", ncols=3)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI)
        return buffer.getvalue()


def marks(axes: Axes) -> list[Mark]:
    """Return the marks of all that has a label in a panel."""
    return [_mark(handle, label) for handle, label in _named(axes)]


def merged(drawings: Iterable[Drawing]) -> list[Mark]:
    """Return the marks of several drawings, each label once."""
    return [*{mark.label: mark for drawing in drawings for mark in drawing.marks}.values()]


def view(values: Iterable[Vector], *, log: bool = False) -> tuple[float, float] | None:
    """Return the limits of an axis that shows all these values with a margin; None without values."""
    parts = [part[np.isfinite(part)] for part in values]
    known = np.concatenate([np.zeros(0), *parts])
    known = known[known > 0] if log else known
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    if log:
        factor = (high / low) ** 0.06 if high > 1.05 * low else 2.0  # a constant is a line in the middle
        return low / factor, high * factor
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    return low - margin, high + margin


def set_view(axes: Axes, values: Sequence[Vector], *, log: bool = False) -> tuple[float, float] | None:
    """Set the limits of y so that all these values are seen, and return them.

    Args:
        log: take a logarithmic axis if they are positive and span orders of magnitude.
    """
    known = np.concatenate([np.zeros(0), *(part[np.isfinite(part)] for part in values)])
    spans = log and known.size > 0 and known.min() > 0 and known.max() > 10**_DECADES * known.min()
    limits = view(values, log=spans)
    if limits and spans:
        log_scale(axes, *limits)
    elif limits:
        axes.set_ylim(*limits)
    return limits


def cut_off(values: Vector, limits: tuple[float, float] | None) -> str:
    """Return what a key says of values that lie beyond the limits of an axis; empty if none does."""
    known = values[np.isfinite(values)]
    if limits is None or not known.size:
        return ""
    if known.min() < limits[0]:
        return f" (down to {number(float(known.min()))}, cut off)"
    return f" (up to {number(float(known.max()))}, cut off)" if known.max() > limits[1] else ""


def wall_time(seconds: float) -> tuple[str, float]:
    """Return the label of an axis of wall time that ends there, and its unit in seconds."""
    name, unit = [one for one in _UNITS if seconds >= 3 * one[1] or one[1] == 1][-1]
    return f"wall time / {name}", unit


def counted(name: str, last: float) -> tuple[str, float]:
    """Return the label of an axis of things that ends at the last, and its unit, which may be a million."""
    return (f"million {name}", 1e6) if last >= 3e6 else (name, 1.0)


def log_scale(axes: Axes, low: float, high: float) -> None:
    """Make y logarithmic between two positive values, with numbers that can be read."""
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    decades = np.log10(high / low)
    subs = (1, 2, 5) if decades < 2.5 else (1,)
    locator = LogLocator(subs=subs, numticks=8)
    if decades < 0.7:  # a log axis would have one number or none
        ticks = np.asarray(MaxNLocator(4).tick_values(low, high))
        axes.yaxis.set_major_locator(FixedLocator(ticks[(ticks > low) & (ticks < high)].tolist()))
    else:
        axes.yaxis.set_major_locator(locator)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def paint_if_many(artist: Any, points: int) -> None:
    """Have an artist of many points painted in pixels, where the rest of the figure is lines."""
    artist.set_rasterized(points > _MANY)


def _fill(axes: Axes, panel: Panel) -> None:
    """Draw a panel, and label it."""
    axes.xaxis.set_major_locator(_Multiples(panel.unit, whole=panel.whole))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: thousands(value / panel.unit)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: thousands(value)))
    panel.draw(axes)
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)


class _Multiples(MaxNLocator):
    """Round numbers in a unit."""

    def __init__(self, unit: float, *, whole: bool) -> None:
        super().__init__(nbins=5, steps=[1, 2, 5, 10], min_n_ticks=2, integer=whole)
        self.unit = unit

    def tick_values(self, low: float, high: float) -> list[float]:
        long = len(thousands(round(high / self.unit))) > _LONG
        self.set_params(nbins=4 if long else 5)
        return [self.unit * tick for tick in super().tick_values(low / self.unit, high / self.unit)]


def _named(axes: Axes) -> list[tuple[Any, str]]:
    handles, labels = axes.get_legend_handles_labels()
    return [*zip(handles, labels, strict=True)]


def _mark(handle: Any, label: str) -> Mark:
    line = handle.lines[0] if isinstance(handle, ErrorbarContainer) else handle
    if isinstance(line, Line2D):
        point = line.get_marker() not in (None, "None", "")
        return Mark(
            label, to_hex(line.get_color()), str(line.get_linestyle()), float(line.get_linewidth()), point
        )
    face = line.get_facecolor()[0]
    return Mark(label, to_hex(face), band=True, alpha=float(face[3]))


def _inline(svg: str, label: str) -> str:
    """Return an SVG that scales with the page, stands next to others, and says what it shows."""
    return _NEEDLESS.sub("", svg).replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
