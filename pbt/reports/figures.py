"""The panels of a population: scores, hyperparameters and family tree."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.reports import drawing
from mpi_es.reports.curves import AXES
from mpi_es.reports.drawing import COLOURS, Panel
from mpi_es.run_file.scores import half_interval
from pbt.lineage import Lineage, ancestors, founders
from pbt.selection import best

_LOGARITHMIC = ("log", "complement")
_MEMBERS, _ENDED, _OTHERS = "#aab3bb", "#c9cfd5", "#8c969f"
_LINES = COLOURS[:6]  # of founders; black is the winner's
_LEGIBLE = 60  # generations, above which they get no dots


def scores(past: Lineage, steps: int) -> list[Panel]:
    """Return the scores by generations, by the steps of a member and by wall time.

    Args:
        steps: of a member in a generation.
    """
    generations = np.arange(1, len(past.generations) + 1, dtype=float)
    x = dict(zip(AXES, (generations, generations * steps, np.cumsum(past.seconds)), strict=True))
    last = {axis: float(values[-1]) for axis, values in x.items()}

    def draw(axis: str, axes: Axes) -> None:
        _draw_scores(past, x[axis], axes)

    return drawing.by_each_axis("score", draw, "steps of each member", last)


def hyperparameters(past: Lineage, scales: Mapping[str, str]) -> list[Panel]:
    """Return a panel for each hyperparameter.

    Args:
        scales: log, complement (of one, logarithmic) or linear, by name.
    """
    values = past.stacked("hyperparameters")
    panels = []
    for place, (name, scale) in enumerate(scales.items()):
        column = 1 - values[..., place] if scale == "complement" else values[..., place]
        title = f"1 - {name}" if scale == "complement" else name
        log = scale in _LOGARITHMIC
        panels.append(Panel(title, AXES[0], partial(_draw_values, past, column, log)))
    return panels


def has_lengths(past: Lineage) -> bool:
    """Return whether members have episodes of more than one step."""
    return bool((past.stacked("length") > 1).any())


def lengths(past: Lineage) -> list[Panel]:
    """Return a panel of the mean length of episodes, in a list that is empty if all have one step."""
    if not has_lengths(past):
        return []
    values = past.stacked("length")
    title = "steps of an episode, mean"
    return [Panel(title, AXES[0], partial(_draw_values, past, values, False))]


def tree(past: Lineage) -> Panel:
    """Return the family tree: a line from each member to those that copied its state."""
    return Panel("family tree", AXES[0], partial(_draw_tree, past), up="member")


def winner_line(past: Lineage) -> NDArray[np.int64]:
    """Return the member (generations,) that was the last winner's ancestor in each generation."""
    return ancestors(past.stacked("source"), best(past.generations[-1].score))


def _draw_scores(past: Lineage, x: Vector, axes: Axes) -> None:
    """Draw the scores over x (generations,). The axis is not scaled to the worst member."""
    values = past.stacked("score")
    known = np.where(np.isfinite(values), values, np.nan)
    line, most = _of_line(known, past), np.nanmax(known, axis=1)
    evaluations = [held_out for _, held_out in past.evaluations]
    means = np.array([one.mean for one in evaluations])
    limits = drawing.set_view(axes, [line, most, np.nanmedian(known, axis=1), means])
    _draw_members(axes, x, known, "each member" + drawing.cut_off(known, limits))
    axes.plot(x, most, color=COLOURS[0], lw=1.2, label="best")
    _draw_winner(axes, x, line)
    if evaluations:
        at = x[np.array([one.generation for one in evaluations]) - 1]
        errors = [half_interval(one.returns) for one in evaluations]
        label = "held-out score of the winner, mean and 95 % interval"
        axes.errorbar(at, means, errors, color=COLOURS[1], fmt="o-", ms=3, lw=1.2, zorder=4, label=label)


def _draw_values(past: Lineage, values: Vector, log: bool, axes: Axes) -> None:
    """Draw the values (generations, n) of each member."""
    x = np.arange(1, len(values) + 1, dtype=float)
    _draw_members(axes, x, values, "each member")
    _draw_winner(axes, x, _of_line(values, past))
    drawing.set_view(axes, [values], "log" if log else "linear")


def _draw_members(axes: Axes, x: Vector, values: Vector, label: str) -> None:
    """Draw the lines of all members as one artist."""
    gap = np.full((1, values.shape[1]), np.nan)
    lines = np.concatenate([values, gap]).T.ravel()
    places = np.tile(np.append(x, np.nan), values.shape[1])
    axes.plot(places, lines, color=_MEMBERS, lw=0.8, label=label)


def _draw_winner(axes: Axes, x: Vector, line: Vector) -> None:
    marker = "." if len(x) <= _LEGIBLE else ""
    label = "the last winner and its ancestors"
    axes.plot(x, line, color="black", lw=1.6, marker=marker, ms=5, zorder=3, label=label)


def _of_line(values: Vector, past: Lineage) -> Vector:
    """Return the values (generations,) of the winner's ancestors."""
    chain = winner_line(past)
    line: Vector = values[np.arange(len(chain)), chain]
    return line


def _draw_tree(past: Lineage, axes: Axes) -> None:
    """Draw the line of each founder: in colour if members descend from it at the end, else in light grey.

    Copies after the last generation are not drawn, since no training follows them.
    """
    source = past.stacked("source")
    count, n = source.shape
    lines = founders(source)
    alive, sizes = np.unique(lines[-1], return_counts=True)
    order = [int(alive[place]) for place in np.argsort(-sizes, kind="stable")]
    coloured, others = order[: len(_LINES)], order[len(_LINES) :]
    ended = [founder for founder in range(n) if founder not in set(order)]
    _draw_founders(axes, source, lines, ended, _ENDED, "founders without descendants at the end")
    _draw_founders(axes, source, lines, others, _OTHERS, f"{len(others)} other founders")
    for founder, colour in zip(coloured, _LINES, strict=False):
        share = f"founder {founder}: {sizes[alive == founder][0]} of {n} members descend from it"
        _draw_founders(axes, source, lines, [founder], colour, share)
    diverged = np.argwhere(~np.isfinite(past.stacked("score")))
    if len(diverged):
        axes.plot(diverged[:, 0] + 1, diverged[:, 1], "x", color=COLOURS[1], ms=5, label="diverged", zorder=4)
    _draw_winner(axes, np.arange(1, count + 1, dtype=float), winner_line(past).astype(float))
    axes.set_ylim(-0.5, n - 0.5)
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def _draw_founders(
    axes: Axes,
    source: NDArray[np.int64],
    lines: NDArray[np.int64],
    chosen: list[int],
    colour: str,
    label: str,
) -> None:
    """Draw all segments of these founders' lines as one artist."""
    if not chosen:
        return
    generation, member = np.nonzero(np.isin(lines[1:], chosen))  # of the segments' ends
    begin = source[generation, member]
    gap = np.full(len(member), np.nan)
    x = np.stack([generation + 1, generation + 2, gap], axis=1).ravel()
    y = np.stack([begin, member, gap], axis=1).ravel()
    axes.plot(x, y, color=colour, lw=1.3, label=label)
