"""A run's progress as a panel on a terminal, redrawn in place."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.styled import Styled
from rich.table import Table
from rich.text import Text

from mpi_es.config.run import Config
from mpi_es.run_file.history import History
from mpi_es.run_file.records import EvaluationProgress, HeldOut, Row, Timing, shown, sign
from mpi_es.run_file.scores import deviation
from mpi_es.telemetry.lines import TimeLeft
from mpi_es.telemetry.terminal import Curve, Display, Sparkline
from mpi_es.text import duration, number, thousands

_WIDEST = 100  # columns
_CURVE, _AROUND_CURVE = 4, 14  # lines


@dataclass
class PanelData:
    """The data of the panel: the run's last generation and its course."""

    config: Config
    done: int = 0  # generations
    left: float = math.nan  # seconds to the end, when the last generation was done
    at: float = 0.0  # seconds from the start until then
    over: bool = False
    progress: EvaluationProgress = field(default_factory=EvaluationProgress)
    latest: tuple[Row, Timing] | None = None
    fitness: list[float] = field(default_factory=list)  # means of the populations
    held_out: list[HeldOut] = field(default_factory=list)


def draw(data: PanelData, elapsed: float, width: int, height: int) -> RenderableType:
    """Return the panel.

    Args:
        elapsed: seconds since the start.
        height: lines of the terminal.
    """
    config = data.config
    grid = _grid("", "curve")
    grid.add_row("generation", _progress(data, elapsed))
    if data.progress.total:
        grid.add_row("calls" if config.function else "episodes", _within(data.progress))
    if data.latest:
        row, timing = data.latest
        _add_scores(grid, data, row, max(1, min(_CURVE, height - _AROUND_CURVE)))
        _add_speeds(grid, config, row, timing)
    return Panel(
        grid,
        title=f"[bold]{escape(config.problem)}[/], {escape(config.strategy.name)}, seed {config.seed}",
        title_align="left",
        subtitle=f"[dim]{escape(config.directory)}[/]",
        subtitle_align="left",
        border_style="cyan",
        width=width,
    )


def _grid(*columns: str) -> Table:
    """Return a table without lines, whose named columns share the remaining width."""
    grid = Table.grid(padding=(0, 2), expand=True)
    for name in columns:
        grid.add_column(ratio=1 if name else None, no_wrap=not name, style="" if name else "dim")
    return grid


def _pairs(*pairs: tuple[str, str]) -> Text:
    """Return names, dim, and values."""
    text = Text()
    for name, value in pairs:
        text.append(f"{name} " if name else "", "dim").append(value.replace(" ", "\xa0")).append("  ")
    text.rstrip()
    return text


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 100 else thousands(round(value))


def _progress(data: PanelData, elapsed: float) -> RenderableType:
    """Return the generations that are done, and the time left, which goes down within a generation."""
    config = data.config
    times = Text.assemble((duration(elapsed), "not dim"), " elapsed")
    if not (data.over or math.isnan(data.left)):
        left = duration(max(0.0, data.left - (elapsed - data.at)))
        most = "" if config.target_fitness is None else "at most "
        times.append(f"  {most}").append(left, "bold not dim").append(" left")
    return _bar(data.done, config.max_iter, times)


def _within(progress: EvaluationProgress) -> RenderableType:
    """Return how far the running evaluation is."""
    words = (("held-out", progress.held_out), ("of rank 0", progress.share))
    return _bar(progress.done, progress.total, Text(" ".join(word for word, known in words if known)))


def _bar(done: int, total: int, text: Text) -> RenderableType:
    bar = _grid("", "bar", "")
    count = Text(f"{thousands(done)} of {thousands(total)}", "bold not dim")
    bar.add_row(count, ProgressBar(total, done, complete_style="cyan", finished_style="cyan"), text)
    return bar


def _add_scores(grid: Table, data: PanelData, row: Row, lines: int) -> None:
    """Add the fitness and the held-out scores, these as a curve of some lines."""
    least = "worst" if data.config.function else "min"
    spread = [("best", row.best), ("mean", row.mean), (least, row.min), ("std", row.std)]
    grid.add_row("fitness", _pairs(*((name, number(value)) for name, value in spread)))
    grid.add_row("", Styled(Sparkline(data.fitness), "cyan"))
    of = f"of {row.popsize}"
    above_mean = ("elite", f"{row.elite} {of}")
    if not math.isnan(row.rank_of_centre):
        above = ("candidates above it", f"{row.rank_of_centre:.0f} {of}")
        grid.add_row("centre", _pairs(("", number(row.fitness_of_centre)), above, above_mean))
    else:
        grid.add_row("above mean", _pairs(above_mean))
    if data.held_out:
        factor = sign(data.config)
        last, best = data.held_out[-1], max(data.held_out, key=lambda one: one.returns.mean())
        scores = [factor * float(one.returns.mean()) for one in data.held_out]
        around = deviation(last.returns)
        grid.add_row(
            Text("held-out", "not dim green"),
            _pairs(
                ("", number(scores[-1])),
                *([] if math.isnan(around) else [("deviation", number(around))]),
                ("at generation", thousands(last.generation)),
                ("best", number(factor * float(best.returns.mean()))),
                ("at", thousands(best.generation)),
            ),
        )
        grid.add_row("", Styled(Curve(scores, lines), "green"))


def _add_speeds(grid: Table, config: Config, row: Row, timing: Timing) -> None:
    rate = [] if math.isnan(row.learning_rate) else [("learning rate", number(row.learning_rate))]
    length = number(row.mean_length) + (f" of {row.episode_cap}" if row.episode_cap else "")
    lengths = [] if config.function else [("episode length", length)]
    restarts = [("restarts", str(row.start))] if row.start else []
    grid.add_row("sigma", _pairs(("", number(row.sigma)), *rate, *lengths, *restarts))
    speeds = [("episodes/s", timing.episodes_per_second), ("steps/s", timing.steps_per_second)]
    if config.function:
        speeds = [("calls/s", timing.episodes_per_second)]
    idle = ("ranks idle", f"{timing.idle:.0%}")
    grid.add_row("speed", _pairs(*((name, number(value)) for name, value in speeds), idle))
    names = ("ask", "evaluate", "tell", "save", "total")
    grid.add_row("seconds", _pairs(*((name, _seconds(getattr(timing, name))) for name in names)))


class LivePanel:
    """Show a run on a terminal, redrawn twice a second.

    Args:
        progress: of the evaluation under way.
        history: of a run that is continued.
    """

    def __init__(
        self,
        terminal: TextIO,
        progress: EvaluationProgress | None = None,
        history: History | None = None,
    ) -> None:
        self._display, self._progress = Display(terminal), progress or EvaluationProgress()
        self._history = history or History()

    def start(self, config: Config, facts: Sequence[str], done: int) -> None:
        """Print the facts and put the panel below."""
        fitness = sign(config) * self._history.rows.content()["mean"]
        before = self._history.evaluations
        self._data = PanelData(
            config, done, progress=self._progress, fitness=fitness.tolist(), held_out=list(before)
        )
        self._time_left, self._begin = TimeLeft(config.max_iter), time.monotonic()
        self._display.start(
            facts, lambda elapsed, size: draw(self._data, elapsed, min(size.width, _WIDEST), size.height)
        )

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> None:
        """Store what the next redraw shows."""
        data = self._data
        row = shown(data.config, row)
        data.done, data.latest = row.generation, (row, timing)
        data.left = self._time_left.after(row.generation, timing.total)
        data.at = time.monotonic() - self._begin
        data.fitness.append(row.mean)
        if held_out:
            data.held_out.append(held_out)

    def finish(self, reason: str, held_out: HeldOut | None) -> None:
        """Leave the last panel on the terminal, and print the reason below."""
        if held_out:
            self._data.held_out.append(held_out)
        self._data.over = True
        self._display.finish(reason)

    def close(self) -> None:
        """Release the terminal."""
        self._display.close()
