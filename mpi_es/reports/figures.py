"""The panels of runs: fitness, held-out returns, step size and episode length."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, product
from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from mpi_es.arrays import Vector
from mpi_es.reports.curves import AXES, Curves, Group, drawable, words
from mpi_es.reports.drawing import COLOURS, Panel, by_each_axis, cut_off, set_view
from mpi_es.run_file.scores import half_interval
from mpi_es.text import number

_LOOKS = [(colour, dash) for dash, colour in product(("-", "--", ":"), COLOURS)]  # of groups
_LEGIBLE = 120  # points of a curve, above which they get no dots


def learning(run: Curves) -> list[Panel]:
    """Return fitness and held-out returns of a run by generations, steps and wall time."""
    return _by_each_axis([run], words([run]).value, partial(_draw_learning, run))


def comparison(groups: Sequence[Group]) -> dict[str, list[Panel]]:
    """Return the fitness of groups of runs by generations, steps and wall time.

    Before it come the best values, for functions whose one call gives a value, or else the held-out returns.
    """
    runs = [run for group in groups for run in group.runs]
    titles = {"mean": words(runs).mean}
    if all(run.exact for run in runs):  # whose centre is evaluated once, at the end
        titles = {"best_so_far": words(runs).best, **titles}
    elif any(run.evaluations for run in runs):
        titles = {"held_out": words(runs).held_out, **titles}
    return {
        quantity: _by_each_axis(runs, title, partial(_draw_groups, groups, quantity))
        for quantity, title in titles.items()
    }


def search(groups: Sequence[Group]) -> list[Panel]:
    """Return step size, spread of fitness, length of episodes and speed of runs by generations."""
    functions = all(run.config.function for group in groups for run in group.runs)
    titles = {
        "sigma": "step size of the search, sigma",
        "std": "deviation of fitness in the population",
        "mean_length": "steps of a training episode, mean",
        "steps_per_second": "calls per second" if functions else "training steps per second",
    }
    if functions:
        del titles["mean_length"]
    return [
        Panel(title, AXES[0], partial(_draw_search, groups, quantity)) for quantity, title in titles.items()
    ]


def _by_each_axis(runs: Sequence[Curves], title: str, draw: Callable[[str, Axes], None]) -> list[Panel]:
    """Return a panel for each axis."""
    last = {axis: max(run.axes[axis][-1] for run in runs) for axis in ("steps", "seconds")}
    return by_each_axis(title, draw, words(runs).steps, last)


def _draw_search(groups: Sequence[Group], quantity: str, axes: Axes) -> None:
    """Draw a column of the history or of the times; the step size is positive and spans decades."""
    _draw_lines(axes, groups, quantity, AXES[0])
    if quantity == "sigma":
        set_view(axes, [np.asarray(line.get_ydata(), float) for line in axes.lines], "log")


def _draw_learning(run: Curves, axis: str, axes: Axes) -> None:
    """Draw a run. The worst candidate and single episodes of the centre may be cut off by the axis."""
    lines = {"population, mean": ("mean", COLOURS[0], 1.6)}
    x, worst, best = run.band(axis)
    mean, held_out = (run.line(axis, quantity)[1] for quantity in ("mean", "held_out"))
    shown = [best, mean, held_out]
    if run.config.tracks_centre:
        lines["centre, in training"] = ("fitness_of_centre", COLOURS[3], 0.5)
    if run.exact:
        lines["best so far"] = ("best_so_far", COLOURS[2], 1.6)
        known = np.concatenate([run.line(axis, "best_so_far")[1], held_out])
        shown = [known, _near(best, known), _near(mean, known)]
    _draw_target(axes, [run])
    limits = set_view(axes, [*shown, *_targets([run])], _scale([run]))
    label = "population, worst to best" + cut_off(worst, limits)
    axes.fill_between(x, worst, best, color=COLOURS[5], alpha=0.25, lw=0, label=label)
    axes.plot(x, best, color=COLOURS[5], lw=1.0, label="population, best")
    for name, (quantity, colour, width) in lines.items():
        axes.plot(*run.line(axis, quantity), color=colour, lw=width, label=name)
    _draw_held_out(axes, run, axis)


def _near(values: Vector, others: Vector) -> Vector:
    """Return the values no farther from `others` than their span; values beyond that are penalties."""
    known = others[np.isfinite(others)]
    span = np.ptp(known) if known.size else 0.0
    return values[np.abs(values - np.clip(values, known.min(), known.max())) <= span] if span else values


def _draw_held_out(axes: Axes, run: Curves, axis: str) -> None:
    """Draw the held-out means with their intervals."""
    if not run.evaluations:
        return
    x, y = run.line(axis, "held_out")
    shown = drawable(np.array([held.mean for held in run.evaluations]))
    errors = np.array([half_interval(held.returns) for held in run.evaluations])[shown]
    many = max(len(held.returns) for held in run.evaluations) > 1
    label = "held-out, mean and 95 % interval" if many else "value of the centre"
    look = "o-" if len(x) <= _LEGIBLE else "-"
    axes.errorbar(x, y, errors, color=COLOURS[1], fmt=look, ms=3, lw=1.2, zorder=3, label=label)


def _draw_groups(groups: Sequence[Group], quantity: str, axis: str, axes: Axes) -> None:
    """Draw values of groups of runs, and their targets."""
    runs = [run for group in groups for run in group.runs]
    _draw_target(axes, runs)
    values = [run.line(axis, quantity)[1] for run in runs]
    set_view(axes, [*values, *_targets(runs)], _scale(runs))
    _draw_lines(axes, groups, quantity, axis)


def _draw_lines(axes: Axes, groups: Sequence[Group], quantity: str, axis: str) -> None:
    """Draw each group: one line, or the median, range and single lines of several runs."""
    for group, (colour, dash) in zip(groups, cycle(_LOOKS), strict=False):
        x, low, median, high = group.summary(axis, quantity)
        axes.plot(x, median, color=colour, ls=dash, lw=1.6, label=group.label)
        lines = [run.line(axis, quantity) for run in group.runs]
        if len(lines) > 1:
            axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
            for line in lines:
                axes.plot(*line, color=colour, ls=dash, lw=0.6, alpha=0.5)
        for x, y in lines:
            if len(x) == 1:  # a line would not be seen
                axes.plot(x, y, "o", color=colour, ms=3)


def _scale(runs: Sequence[Curves]) -> Literal["auto", "linear"]:
    """Return the scale of fitness: only functions have values that fall by orders of magnitude."""
    return "auto" if all(run.config.function for run in runs) else "linear"


def _targets(runs: Sequence[Curves]) -> list[Vector]:
    """Return the targets of runs, each once."""
    targets = {run.config.target_fitness for run in runs}
    return [np.array([target]) for target in sorted(one for one in targets if one is not None)]


def _draw_target(axes: Axes, runs: Sequence[Curves]) -> None:
    for target in _targets(runs):
        axes.axhline(target[0], color="#5b6670", ls="--", lw=1.0, label=f"target, {number(target[0])}")
