"""What consoles show of a run: the numbers of a generation, and their titles."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mpi_es.config.parts import flat
from mpi_es.config.run import Config
from mpi_es.run_file.run_status import may_end_earlier
from mpi_es.text import number, thousands

Numbers = dict[str, float]  # of a generation, by the names that TensorBoard and callbacks show
PanelRows = dict[str, Sequence[tuple[str, str]]]  # of the panel: names and values, by the row's title
_COLUMNS = {
    "best": (7, "fitness/best"),
    "mean": (7, "fitness/mean"),
    "centre": (7, "fitness/of_centre"),
    "held-out": (8, "held_out/mean"),
    "sigma": (6, "sigma"),
    "length": (6, "episode_length/mean"),
    "steps/s": (7, "speed/steps_per_second"),
    "seconds": (7, "seconds/total"),
}
_FUNCTION_COLUMNS = {  # without episodes
    "best": (9, "fitness/best"),
    "mean": (9, "fitness/mean"),
    "held-out": (8, "held_out/mean"),
    "sigma": (7, "sigma"),
    "calls/s": (7, "speed/calls_per_second"),
    "seconds": (7, "seconds/total"),
}


@dataclass(frozen=True)
class View:
    """What lines and panel show of a run."""

    name: str  # of what is trained
    details: str  # about it
    directory: str
    max_iter: int
    columns: Mapping[str, tuple[int, str]]  # of the lines: width and number, by title
    course: str  # the number that the panel draws as a curve
    scores: Callable[[Numbers], PanelRows]  # of the panel, above the held-out score
    speeds: Callable[[Numbers], PanelRows] = lambda numbers: {}  # below it
    table: Callable[[Numbers, int, int], Sequence[Any]] | None = (
        None  # below everything, in this many columns and lines
    )
    may_end_earlier: bool = False  # the time left is then the most
    episodes: str = "episodes"
    held_out: str = "held-out mean"
    minimise: bool = False


def view_of(config: Config) -> View:
    """Return the view of a run of mpi_es."""
    of_function = bool(config.function)
    return View(
        name=config.problem,
        details=f"{config.strategy.name}, seed {config.seed}",
        directory=config.directory,
        max_iter=config.max_iter,
        columns=_FUNCTION_COLUMNS if of_function else _COLUMNS,
        course="fitness/mean",
        scores=_scores,
        speeds=_speeds,
        may_end_earlier=may_end_earlier(flat(config)),
        episodes="calls" if of_function else "episodes",
        held_out="value of the centre" if of_function else "held-out mean",
        minimise=config.minimise,
    )


def pairs(numbers: Numbers, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return titles and texts of the numbers that are known.

    Args:
        names: of the numbers, by title.
    """
    return [(title, number(numbers[name])) for title, name in names.items() if name in numbers]


def _scores(numbers: Numbers) -> PanelRows:
    """Return the rows of fitness, and of the centre if it was evaluated."""
    titles = {title: f"fitness/{title}" for title in ("best", "mean", "min", "worst", "std")}
    of = f"of {numbers['popsize']:.0f}"
    elite = ("elite", f"{numbers['elite']:.0f} {of}")
    rows: PanelRows = {"fitness": pairs(numbers, titles)}
    if "rank_of_centre" not in numbers:
        return rows | {"better than mean": [elite]}
    above = ("candidates above it", f"{numbers['rank_of_centre']:.0f} {of}")
    return rows | {"centre": [*pairs(numbers, {"": "fitness/of_centre"}), above, elite]}


def _speeds(numbers: Numbers) -> PanelRows:
    """Return the rows of the step size, the speed and the times."""
    search = pairs(numbers, {"": "sigma", "learning rate": "learning_rate"})
    if "episode_length/mean" in numbers:
        cap = numbers["episode_length/cap"]
        of = f" of {cap:.0f}" if cap else ""
        search.append(("episode length", number(numbers["episode_length/mean"]) + of))
    if numbers["start"]:
        search.append(("restarts", f"{numbers['start']:.0f}"))
    speeds = {f"{what}/s": f"speed/{what}_per_second" for what in ("episodes", "calls", "steps")}
    names = ("ask", "evaluate", "tell", "save", "total")
    return {
        "sigma": search,
        "speed": [*pairs(numbers, speeds), ("ranks idle", f"{numbers['speed/idle']:.0%}")],
        "seconds": [(name, _seconds(numbers.get(f"seconds/{name}", math.nan))) for name in names],
    }


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 100 else thousands(round(value))
