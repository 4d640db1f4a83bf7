"""The page of runs: how each ended, its curves, what its time was spent on, films, options and commands."""

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from mpi_es.config.fields import option
from mpi_es.config.parts import as_options, declared
from mpi_es.reports import elements, figures
from mpi_es.reports.curves import Curves, Group, Spread, grouped, said, words
from mpi_es.reports.drawing import Panel, drawn, drawn_wide, merged
from mpi_es.reports.films import films
from mpi_es.run_file import stamp
from mpi_es.run_file.imports import IN_ONE_CALL
from mpi_es.run_file.scores import interval
from mpi_es.text import counted, duration, number, thousands

_LINES = """Several seeds of one config have one colour: the strong line is their median, the band is their
range up to the end of the shortest run, and the pale lines are the single runs."""
_BEST = """Held-out episodes are played by the mean of the search. Best is the mean with the highest return
over them; the 95 % interval is in brackets. This score chose the mean, so it is a little too high: for an
unbiased one evaluate with --seeds fresh."""


def page(runs: Sequence[Curves], place: Path) -> str:
    """Return the page of runs.

    Args:
        place: the directory in which the page lies.
    """
    if len(runs) == 1:
        (run,) = runs
        title = f"Run {run.directory.resolve().name}"
        return elements.document(title, [*_head(title, run), *_of_one(run), *_below(run, place)])
    title = f"{len(runs)} runs"
    parts = [f"<h1>{title}</h1>", as_of(), *_compared(grouped(runs)), _table_of_runs(runs)]
    for run in runs:
        curves = figures_of(figures.learning(run))
        parts += [*_head(str(run.directory), run, level=2), *curves, *_phases(run, level=3)]
        parts.append(elements.details("Options, commands and versions", *_options(run)))
        parts += films(run.directory, place)
    return elements.document(title, parts)


def as_of(directory: str = "") -> str:
    """Return the line that says when the page was written, and of which directory."""
    of = f"{directory}, " if directory else ""
    return elements.faint(f"{of}as of {datetime.now():%Y-%m-%d %H:%M}")


def figures_of(panels: Sequence[Panel], *, small: bool = False, size: Any = None) -> list[str]:
    """Return the key of panels that share one, and the panels."""
    drawings = [drawn(panel, *([size] if size else [])) for panel in panels]
    return [elements.key(merged(drawings)), elements.figures(drawings, small=small)]


def first_figure(panel: Panel) -> list[str]:
    """Return a figure as wide as the page, with its key."""
    wide, narrow = drawn_wide(panel)
    return [elements.key(wide.marks), elements.wide_figure(wide, narrow)]


def state_of(content: Mapping[str, Any]) -> str:
    """Return the line that says why a run ended, or that it goes on."""
    life, seconds = content.get("life", {}), stamp.seconds_of(content["timing"])
    text, silence = stamp.state_of(dict(content), time.time(), float(seconds.max(initial=0.0)))
    finished = bool(life.get("finished"))
    if not finished and not np.isnan(silence):
        text += f"; last saved {duration(max(silence, 0.0))} ago"
    running = text.startswith("running")
    return elements.state(text, finished=finished, stopped=not finished and not running)


def changed_options(config: Any) -> str:
    """Return a table of the options that differ from the defaults."""
    rows = [
        (option(name), said(one.value), said(one.default))
        for name, one in declared(config).items()
        if name != "run_dir" and one.value != one.default
    ]
    return elements.table(("Option", "Value", "Default"), rows, code=range(3))


def libraries(content: Mapping[str, Any]) -> str:
    """Return the versions of the libraries."""
    rows = content["libraries"].items()
    summary = "Versions of the libraries; others may round differently"
    return elements.details(summary, elements.table(("Library", "Version"), rows))


def _head(title: str, run: Curves, level: int = 1) -> list[str]:
    """Return the title of a run, its state, and its progress in numbers."""
    config, spoken = run.config, words([run])
    what = [config.problem, config.strategy.name, f"seed {config.seed}"]
    what.append(f"{counted(config.strategy.population_size, 'candidate')} in a generation")
    generations, steps, seconds = (run.axes[axis][-1] for axis in run.axes)
    speed = steps / seconds if seconds else 0.0
    unit = "calls" if config.function else "steps"
    score, bounds, at = _best(run)
    last = run.evaluations[-1] if run.evaluations else None
    late = number(run.factor * float(last.returns.mean())) if last else ""
    pairs = [
        (spoken.best.capitalize(), score, f"{bounds} generation {at}" if run.best is not None else at),
        (spoken.last.capitalize(), late, f"generation {thousands(last.generation)}" if last else ""),
        ("Generations", thousands(generations), f"of {thousands(config.max_iter)}"),
        (spoken.steps.capitalize(), thousands(steps), "" if config.function else _episodes(run)),
        ("Wall time", duration(seconds), f"{number(speed)} {unit}/s"),
    ]
    warning = [elements.warning(run.warning)] if run.warning else []
    line = elements.faint(", ".join(what)) + (as_of(str(run.directory)) if level == 1 else "")
    return [elements.heading(title, level), line, state_of(run.content), *warning, elements.facts(pairs)]


def _episodes(run: Curves) -> str:
    return f"in {thousands(float(run.history['episodes'].sum()))} episodes"


def _of_one(run: Curves) -> list[str]:
    """Return the learning curve of a run, by generations first, and the course of its search."""
    by_generations, *others = figures.learning(run)
    panels = [*others, *figures.search([Group("", [run])])]
    drawings = [drawn(panel) for panel in panels]
    return [
        *first_figure(by_generations),
        elements.figures(drawings),
        *_note([run]),
        *_phases(run, level=2),
    ]


def _phases(run: Curves, level: int) -> list[str]:
    """Return what the time of a run was spent on."""
    heading = elements.heading("What the time was spent on", level)
    return [heading, elements.bar(run.phases)]


def _note(runs: Sequence[Curves]) -> list[str]:
    """Return what best means where there are several episodes."""
    sampled = any(run.best is not None and len(run.best) > 1 for run in runs)
    return [elements.faint(_BEST)] if sampled else []


def _below(run: Curves, place: Path) -> list[str]:
    """Return films, options and commands of one run."""
    return [*films(run.directory, place), elements.heading("Options and commands", 2), *_options(run)]


def _options(run: Curves) -> list[str]:
    """Return the options of a run, what repeats and evaluates it, and the versions of its libraries."""
    parts = [elements.paragraph("Options that differ from the defaults:")]
    parts.append(changed_options(run.config))
    return [*parts, *_commands(run), libraries(run.content)]


def _commands(run: Curves) -> list[str]:
    """Return the commands that repeat, evaluate and film a run; none where a script began it."""
    config, directory = run.config, str(run.directory)
    if config.is_of_script:
        return []
    lines = [["train", *as_options(replace(config, run_dir=""))]]
    text = "The same run again, on any number of ranks"
    if not config.function:
        lines.append(["evaluate", directory])
        text += "; its score"
        if not config.env.startswith(IN_ONE_CALL):  # those draw nothing
            lines.append(["evaluate", directory, "--video", f"{directory}/film.mp4"])
            text += "; and a film, which the next report shows"
    return [elements.commands(text, [shlex.join(["python", "-m", f"mpi_es.{a}", *b]) for a, *b in lines])]


def _best(run: Curves) -> tuple[str, str, str]:
    """Return the score of the best mean, the 95 % interval, and the generation."""
    if run.best is None:
        return "-", "", "not evaluated yet"
    at, score = thousands(float(run.content["best"]["generation"])), number(float(run.best.mean()))
    if len(run.best) == 1:
        return score, "", at
    low, high = map(number, interval(run.best))
    return score, f"[{low}, {high}]", at


# Several runs


def _compared(groups: Sequence[Group]) -> list[str]:
    """Return the curves of groups of runs, and a table of their spread over the seeds."""
    compared = figures.comparison(groups)
    held = any(run.evaluations for group in groups for run in group.runs)
    by_generations, *others = compared["held_out" if held else "mean"]
    rest = [*(compared["mean"] if held else ()), *figures.search(groups)]
    return [
        *first_figure(by_generations),
        elements.figures([drawn(panel) for panel in (*others, *rest)]),
        elements.paragraph(_LINES),
        elements.heading("Over the seeds", 2),
        elements.paragraph("The median over the runs, and in brackets the lowest and the highest."),
        _table_over_seeds(groups),
    ]


def _table_over_seeds(groups: Sequence[Group]) -> str:
    """Return a row for each group: the median and the range of what its runs came to."""
    runs = [run for group in groups for run in group.runs]
    spoken = words(runs)
    titles = ["Runs", "Number", spoken.best.capitalize(), spoken.last.capitalize(), "Generations"]
    titles += [spoken.steps.capitalize(), "Wall time"]
    aimed = any(run.config.target_fitness is not None for run in runs)
    if aimed:
        titles += ["Reached the target", "In the generation"]
    rows = []
    for group in groups:
        last = [run.factor * run.evaluations[-1].returns.mean() for run in group.runs if run.evaluations]
        ends = {axis: Spread([run.axes[axis][-1] for run in group.runs]) for axis in group.runs[0].axes}
        row = [group.label, thousands(len(group.runs))]
        row += [Spread([run.best.mean() for run in group.runs if run.best is not None]).text(number)]
        row += [Spread(last).text(number), ends["generations"].text(thousands)]
        row += [ends["steps"].text(thousands), ends["seconds"].text(duration)]
        if aimed:
            reached = [at for run in group.runs if (at := run.first_at_target()) is not None]
            row += [f"{len(reached)} of {len(group.runs)}", Spread([*map(float, reached)]).text(thousands)]
        rows.append(row)
    return elements.table(titles, rows, numbers=range(1, len(titles)), stack=True)


def _table_of_runs(runs: Sequence[Curves]) -> str:
    """Return a row for each run."""
    titles = ("Run", "Seed", words(runs).best.capitalize(), "95 % interval", "Of generation", "Generations")
    rows = []
    for run in runs:
        done = f"{thousands(run.axes['generations'][-1])} of {thousands(run.config.max_iter)}"
        rows.append([str(run.directory), f"{run.config.seed}", *_best(run), done])
    table = elements.table(titles, rows, numbers=range(1, len(titles)), stack=True)
    return elements.heading("Each run", 2) + table + "".join(_note(runs))
