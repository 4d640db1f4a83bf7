"""python -m pbt.report RUN…: draw a population's scores, hyperparameters and family tree."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import UserError
from mpi_es.parallel.agreement import on_root
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.program import launch
from mpi_es.run_file import checkpoint
from mpi_es.run_file.scores import deviation
from pbt import figure2, lineage
from pbt.config import Config
from pbt.lineage import Lineage, ancestors
from pbt.members import space
from pbt.record import load
from pbt.selection import best

NAME = "population.png"
_LOGARITHMIC = ("log", "complement")
# The line of the winner's ancestors, in each panel.
_WINNER_STYLE: dict[str, Any] = {"color": "black", "linewidth": 2, "marker": "."}
_COLORS = 10  # of matplotlib's cycle


def main(comm: Comm, arguments: list[str]) -> int:
    """Draw, print the paths, and return the exit code. Collective: only rank 0 works."""
    on_root(comm, lambda: _report(arguments))
    return 0


def _report(runs: list[str]) -> None:
    if {"--help", "-h"} & set(runs):
        print(__doc__)
        return
    if not runs or runs[0].startswith("-"):
        raise UserError(f"RUN: expected directories of runs, got {' '.join(runs) or 'nothing'}")
    for run in runs:
        for path in draw(checkpoint.directory_of(Path(run))):
            print(path)


def draw(directory: Path) -> list[Path]:
    """Write the pictures of a run and return their paths."""
    config, stored = load(directory)
    scales = _scales(config, stored["hyperparameters"])
    past = lineage.read(stored, list(scales))
    if not past.generations:
        raise UserError(f"{directory}: expected a run of one generation or more, got one of none")
    try:
        drawn = [_population(directory, past, scales)]
        return [*drawn, figure2.draw(directory, config.seed)] if config.member == "toy" else drawn
    except OSError as error:
        raise UserError(f"{directory}: cannot be written to ({error.strerror})") from error


def _scales(config: Config, names: Iterable[str]) -> dict[str, str]:
    """Return the scale of each hyperparameter; linear if the member or its environment cannot be imported."""
    try:
        known: dict[str, str] = {one.name: one.scale for one in space(config)}
    except UserError:
        known = {}
    return {name: known.get(name, "linear") for name in names}


def _population(directory: Path, past: Lineage, scales: dict[str, str]) -> Path:
    """Write scores, one panel per hyperparameter, and the family tree, from top to bottom."""
    from matplotlib.figure import Figure

    source = past.stacked("source")
    generations = np.arange(1, len(source) + 1)
    chain = ancestors(source, best(past.generations[-1].score))
    figure = Figure(figsize=(9, 2.4 * (2 + len(scales))), layout="constrained")
    panels: Any = figure.subplots(2 + len(scales), sharex=True)
    _draw_scores(panels[0], past, generations, chain)
    values = past.stacked("hyperparameters")
    for place, (name, scale) in enumerate(scales.items()):
        panel, column = panels[1 + place], values[..., place]
        _draw_lines(panel, generations, 1 - column if scale == "complement" else column, chain)
        panel.set_ylabel(f"1 - {name}" if scale == "complement" else name)
        if scale in _LOGARITHMIC:
            panel.set_yscale("log")
    _draw_tree(panels[-1], source, chain)
    panels[-1].set_xlabel("generation")
    path = directory / NAME
    figure.savefig(path, dpi=120)
    return path


def _draw_scores(panel: Any, past: Lineage, generations: NDArray[np.int64], chain: NDArray[np.int64]) -> None:
    scores = past.stacked("score")
    known = np.where(np.isfinite(scores), scores, np.nan)
    _draw_lines(panel, generations, known, chain)
    panel.lines[0].set_label("each member")
    panel.lines[-1].set_label("the last winner and its ancestors")
    panel.plot(generations, np.nanmax(known, axis=1), ".-", label="best")
    evaluations = [held_out for _, held_out in past.evaluations]
    panel.errorbar(
        [one.generation for one in evaluations],
        [one.returns.mean() for one in evaluations],
        [deviation(one.returns) for one in evaluations],
        fmt="o",
        label="held-out ± standard deviation",
    )
    panel.set_ylabel("score")
    panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False)


def _draw_lines(
    panel: Any, generations: NDArray[np.int64], values: NDArray[np.float64], chain: NDArray[np.int64]
) -> None:
    """Draw each member's line, and over these the line of the winner's ancestors."""
    panel.plot(generations, values, ".-", color="lightgrey", linewidth=1)
    panel.plot(generations, values[np.arange(len(chain)), chain], **_WINNER_STYLE)


def _draw_tree(panel: Any, source: NDArray[np.int64], chain: NDArray[np.int64]) -> None:
    """Draw a line from each member to the source of its next state, in the colour of its founder.

    Copies after the last generation are not drawn: nobody trains after them.
    """
    from matplotlib.collections import LineCollection  # one artist: thousands of lines take half a minute

    count, n = source.shape
    founders, lines, colors = np.arange(n), [], []
    for generation in range(count - 1):
        founders = founders[source[generation]]
        pairs = zip(source[generation].tolist(), range(n), strict=True)
        lines += [((generation + 1, begin), (generation + 2, end)) for begin, end in pairs]
        colors += [f"C{founder % _COLORS}" for founder in founders]
    panel.add_collection(LineCollection(lines, colors=colors, linewidths=1))
    panel.plot(np.arange(1, count + 1), chain, **_WINNER_STYLE)
    panel.set_ylim(-0.5, n - 0.5)
    for axis in (panel.xaxis, panel.yaxis):
        axis.get_major_locator().set_params(integer=True)
    panel.set_ylabel("member")


if __name__ == "__main__":
    launch(main)
