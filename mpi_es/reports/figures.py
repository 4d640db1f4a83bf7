"""Figures of runs by matplotlib, without a screen: fitness, step size, episode length."""

from collections.abc import Callable, Sequence
from itertools import cycle, product
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from mpi_es.reports.curves import AXES, Curves, Group, words
from mpi_es.run_file.scores import half_interval
from mpi_es.text import thousands

# The colours of Okabe and Ito, which colour-blind people can distinguish; more groups get other dashes.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LOOKS = [(colour, dash) for dash, colour in product(("-", "--", ":"), _COLOURS)]
_STYLE: dict[Any, Any] = {
    "font.size": 9.0,
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
}
_UNITS = (("s", 1), ("min", 60), ("h", 3600))  # two minutes are still 120 s
_WIDTH, _HEIGHT = 3.4, 2.7  # inches of a panel

Draw = Callable[[Axes, str], None]


def learning(run: Curves) -> Figure:
    """Return fitness and held-out returns of a run against generations, episodes and wall time."""

    def draw(panel: Axes, axis: str) -> None:
        x, low = run.line(axis, "min")
        high = run.line(axis, "best")[1]
        panel.fill_between(x, low, high, color="#56B4E9", alpha=0.3, lw=0, label="population, range")
        panel.plot(*run.line(axis, "mean"), "#0072B2", label="population, mean")
        if run.config.track_mean:
            panel.plot(*run.line(axis, "fitness_of_centre"), "#009E73", lw=0.8, label="unperturbed mean")
        if run.evaluations:
            errors = [half_interval(held.returns) for held in run.evaluations]
            line = run.line(axis, "held_out")
            many = max(len(held.returns) for held in run.evaluations) > 1
            label = "held-out, mean and 95 % interval" if many else "value of the mean"
            panel.errorbar(*line, errors, color="#D55E00", fmt="o-", ms=3, lw=1.0, label=label)

    return _along_axes([run], {words([run]).value: draw})


def comparison(groups: Sequence[Group]) -> Figure:
    """Return held-out returns and fitness of groups of runs against generations, episodes and wall time."""
    runs = [run for group in groups for run in group.runs]
    rows = {"held_out": words(runs).held_out, "mean": words(runs).mean}
    draws = {label: _group_lines(groups, quantity) for quantity, label in rows.items()}
    return _along_axes(runs, draws)


def search(groups: Sequence[Group]) -> Figure:
    """Return the step size and the length of training episodes of groups of runs against generations."""
    titles = {"sigma": "Step size of the search", "mean_length": "Length of training episodes, mean"}
    if all(run.config.function for group in groups for run in group.runs):
        del titles["mean_length"]
    with mpl.rc_context(_STYLE):
        figure = Figure((3 * _WIDTH, _HEIGHT + 0.3))
        panels = figure.subplots(1, len(titles), squeeze=False)[0]
        for panel, (quantity, title) in zip(panels, titles.items(), strict=True):
            _group_lines(groups, quantity)(panel, AXES[0])
            panel.set(xlabel="generations", ylabel="sigma" if quantity == "sigma" else "steps")
            panel.set_title(title, loc="left")
        left = panels[0]
        left.set_yscale("log")
        left.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        left.yaxis.set_major_formatter("{x:g}")
        left.yaxis.set_minor_formatter(NullFormatter())
        if len(groups) > 1:
            _add_legend(figure, left)
        return figure


def _group_lines(groups: Sequence[Group], quantity: str) -> Draw:
    """Return a function that draws a group: a line, or the median, range and single lines of several runs."""

    def draw(panel: Axes, axis: str) -> None:
        for group, (colour, dash) in zip(groups, cycle(_LOOKS), strict=False):
            x, low, median, high = group.summary(axis, quantity)
            panel.plot(x, median, color=colour, ls=dash, label=group.label)
            if len(group.runs) > 1:
                panel.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
                for run in group.runs:
                    panel.plot(*run.line(axis, quantity), color=colour, ls=dash, lw=0.6, alpha=0.5)

    return draw


def _along_axes(runs: Sequence[Curves], rows: dict[str, Draw]) -> Figure:
    """Return a row of panels for each quantity, a panel for each axis."""
    longest = max(run.axes["seconds"][-1] for run in runs)
    unit, seconds = [u for u in _UNITS if longest >= 3 * u[1] or u[1] == 1][-1]
    titles = dict(zip(AXES, ("generations", words(runs).episodes, f"wall time / {unit}"), strict=True))
    with mpl.rc_context(_STYLE):
        figure = Figure((3 * _WIDTH, len(rows) * _HEIGHT + 0.4))
        panels = figure.subplots(len(rows), 3, sharex="col", sharey="row", squeeze=False)
        for (label, draw), line in zip(rows.items(), panels, strict=True):
            line[0].set_ylabel(label)
            for axis, panel in zip(AXES, line, strict=True):
                draw(panel, axis)
        for axis, panel in zip(AXES, panels[-1], strict=True):
            panel.set_xlabel(titles[axis])
            _scale(panel, seconds if axis == "seconds" else 1)
        _add_legend(figure, panels[0, 0])
        return figure


def _scale(panel: Axes, unit: float) -> None:
    """Label an axis in multiples of a unit."""
    panel.xaxis.set_major_locator(_Multiples(unit))
    panel.xaxis.set_major_formatter(lambda value, _: thousands(value / unit))


class _Multiples(MaxNLocator):
    """Round numbers in a unit."""

    def __init__(self, unit: float) -> None:
        super().__init__(nbins=5, steps=[1, 2, 2.5, 5, 10])
        self.unit = unit

    def tick_values(self, low: float, high: float) -> list[float]:
        return [self.unit * tick for tick in super().tick_values(low / self.unit, high / self.unit)]


def _add_legend(figure: Figure, panel: Axes) -> None:
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4)
