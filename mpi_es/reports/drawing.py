"""Panels by matplotlib, without a screen: as SVG with a common key for a page, or as one PNG."""

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from mpi_es.arrays import Vector
from mpi_es.reports.curves import AXES
from mpi_es.text import number, thousands

# The colours of Okabe and Ito, which colour-blind people can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
WIDE, NARROW, SMALL = (11.0, 3.6), (3.7, 2.8), (2.4, 2.0)  # inches; text has the same size in all of them
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
    "text.parse_math": False,  # a name may have dollars
    "svg.fonttype": "none",  # text stays text: small, crisp and searchable
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_MANY = 4000  # points of an artist: more are rasterised, since their outlines would be megabytes
_DPI = 160
_DECADES = 3  # values that span more may be drawn on a logarithmic axis
_UNITS = (("s", 1.0), ("min", 60.0), ("h", 3600.0))  # two minutes are still 120 s
_LONG = 7  # characters of a number; with longer ones an axis has fewer
# Attributes that a page does not need: its style sets the size, HTML knows the namespaces, and nothing
# refers to the ids that matplotlib numbers in each figure.
_NEEDLESS = re.compile(r' xmlns(?::xlink)?="[^"]*"| id="[a-zA-Z0-9.]+_\d+"')
_SIZE = re.compile(r' (?:width|height)="[\d.]+pt"')

Pair = tuple[Markup, Markup]  # for a wide and for a narrow screen


@dataclass(frozen=True)
class Panel:
    """One plot: its title, labels and the function that draws it."""

    title: str
    across: str  # label of x
    draw: Callable[[Axes], None]
    unit: float = 1.0  # of the numbers on x
    up: str = ""  # label of y, if the title does not give it
    whole: bool = True  # whether x has whole numbers only


@dataclass(frozen=True)
class Figures:
    """Panels as SVG, with their key above them."""

    key: Pair | None
    first: Pair | None  # as wide as the page
    panels: list[Markup]
    small: bool  # two fit next to each other even on a narrow screen


def figures(panels: Sequence[Panel], *, first: Panel | None = None, small: bool = False) -> Figures:
    """Return panels as SVG that share a key.

    Args:
        first: a panel above the others, as wide as the page.
    """
    handles: dict[str, Any] = {}
    pair = (_drawn(first, WIDE, handles), _drawn(first, NARROW, handles)) if first else None
    drawn = [_drawn(panel, SMALL if small else NARROW, handles) for panel in panels]
    key = (_key(handles, 3), _key(handles, 1)) if handles else None
    return Figures(key, pair, drawn, small)


def picture(panels: Sequence[Panel], columns: int) -> bytes:
    """Return panels row by row as one PNG, with one legend above."""
    rows = -(-len(panels) // columns)
    width, height = (3.4, 2.7) if columns > 1 else (9.0, 2.4)
    handles: dict[str, Any] = {}
    with mpl.rc_context(_STYLE):
        figure = Figure((columns * width, rows * height + 0.4))
        places = figure.subplots(rows, columns, squeeze=False).ravel()
        for place, panel in zip(places, panels, strict=False):
            _fill(place, panel, handles)
        for place in places[len(panels) :]:
            place.set_visible(False)
        figure.legend([*handles.values()], [*handles], loc="outside upper left", ncols=3)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI, bbox_inches="tight")  # a long key is wider
        return buffer.getvalue()


def set_view(
    axes: Axes, values: Iterable[Vector], scale: Literal["linear", "log", "auto"] = "linear"
) -> tuple[float, float] | None:
    """Set the limits of y so that all these values show, with a margin; return them, or None without values.

    Args:
        scale: auto is logarithmic if the values are positive and span orders of magnitude.
    """
    parts = [np.zeros(0), *values]
    known = np.concatenate([part[np.isfinite(part)] for part in parts])
    known = known[known > 0] if scale == "log" else known
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    if scale == "log" or (scale == "auto" and low > 0 and high > 10**_DECADES * low):
        factor = (high / low) ** 0.06 if high > 1.05 * low else 2.0  # a constant is a line in the middle
        limits = low / factor, high * factor
        _log_scale(axes, *limits)
        return limits
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    limits = low - margin, high + margin
    axes.set_ylim(*limits)
    return limits


def cut_off(values: Vector, limits: tuple[float, float] | None) -> str:
    """Return the note in a key on values beyond the limits of an axis; empty if there are none."""
    known = values[np.isfinite(values)]
    if limits is None or not known.size:
        return ""
    if known.min() < limits[0]:
        return f" (down to {number(float(known.min()))}, cut off)"
    return f" (up to {number(float(known.max()))}, cut off)" if known.max() > limits[1] else ""


def by_each_axis(
    title: str, draw: Callable[[str, Axes], None], steps: str, last: Mapping[str, float]
) -> list[Panel]:
    """Return a panel by generations, one by steps and one by wall time.

    Args:
        steps: what steps are called.
        last: the largest number of steps and of seconds.
    """
    million = ("million ", 1e6) if last["steps"] >= 3e6 else ("", 1.0)
    name, unit = [one for one in _UNITS if last["seconds"] >= 3 * one[1] or one[1] == 1][-1]
    across = {
        AXES[0]: (AXES[0], 1.0),
        "steps": (million[0] + steps, million[1]),
        "seconds": (f"wall time / {name}", unit),
    }
    return [
        Panel(title, label, partial(draw, axis), one, whole=axis != "seconds")
        for axis, (label, one) in across.items()
    ]


def _log_scale(axes: Axes, low: float, high: float) -> None:
    """Make y logarithmic between two positive values, with legible tick labels."""
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    decades = np.log10(high / low)
    subs = (1, 2, 5) if decades < 2.5 else (1,)
    locator = LogLocator(subs=subs, numticks=8)
    if decades < 0.7:  # a log locator would give one tick or none
        ticks = np.asarray(MaxNLocator(4).tick_values(low, high))
        axes.yaxis.set_major_locator(FixedLocator(ticks[(ticks > low) & (ticks < high)].tolist()))
    else:
        axes.yaxis.set_major_locator(locator)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: thousands(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _drawn(panel: Panel, size: tuple[float, float], handles: dict[str, Any]) -> Markup:
    """Return a panel as SVG that scales with the page and has a label for screen readers.

    Args:
        size: width and height in inches, which determine the size of the text.
        handles: gets the panel's labelled artists, by label.
    """
    with mpl.rc_context({**_STYLE, "svg.hashsalt": f"{panel.title} {panel.across} {size}"}):
        figure = Figure(size)
        _fill(figure.subplots(), panel, handles)
        svg = _SIZE.sub("", _saved(figure))
    label = escape(f"{panel.title} by {panel.across}")
    return Markup(svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1))


def _key(handles: dict[str, Any], columns: int) -> Markup:
    """Return the key of figures as SVG: each mark with its meaning."""
    with mpl.rc_context(_STYLE | {"figure.constrained_layout.use": False, "svg.hashsalt": str(columns)}):
        figure = Figure()
        figure.legend([*handles.values()], [*handles], ncols=columns, borderpad=0.2, borderaxespad=0)
        return Markup(_saved(figure, bbox_inches="tight", pad_inches=0))


def _saved(figure: Figure, **options: Any) -> str:
    """Return a figure as SVG without what a page does not need."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=_NO_METADATA, transparent=True, **options)
    text = buffer.getvalue()
    return _NEEDLESS.sub("", text[text.index("<svg") :])


def _fill(axes: Axes, panel: Panel, handles: dict[str, Any]) -> None:
    """Draw a panel, label it, and add its labelled artists to the handles."""
    axes.xaxis.set_major_locator(_Multiples(panel.unit, whole=panel.whole))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: thousands(value / panel.unit)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: thousands(value)))
    panel.draw(axes)
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    for line in axes.lines:
        line.set_rasterized(np.size(line.get_xdata()) > _MANY)
    for area in axes.collections:  # two coordinates of an upper and a lower point
        area.set_rasterized(sum(np.size(path.vertices) for path in area.get_paths()) > 4 * _MANY)
    drawn, labels = axes.get_legend_handles_labels()
    handles |= zip(labels, map(_mark, drawn), strict=True)


def _mark(drawn: Any) -> Any:
    """Return an artist for a key: a patch for an area, which matplotlib cannot put into another figure."""
    if not isinstance(drawn, PolyCollection):
        return drawn
    colours: Any = drawn.get_facecolor()  # (n, 4)
    return Patch(facecolor=colours[0], edgecolor="none")


class _Multiples(MaxNLocator):
    """Round numbers in a unit."""

    def __init__(self, unit: float, *, whole: bool) -> None:
        super().__init__(nbins=5, steps=[1, 2, 5, 10], min_n_ticks=2, integer=whole)
        self.unit = unit

    def tick_values(self, low: float, high: float) -> list[float]:
        long = len(thousands(round(high / self.unit))) > _LONG
        self.set_params(nbins=4 if long else 5)
        return [self.unit * tick for tick in super().tick_values(low / self.unit, high / self.unit)]
