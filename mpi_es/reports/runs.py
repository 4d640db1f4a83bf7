"""The page of runs: how each ended, its curves, where its time went, films, options and commands."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mpi_es.reports import figures
from mpi_es.reports.curves import AXES, Curves, Group, grouped, spread, words
from mpi_es.reports.drawing import figures as drawn
from mpi_es.reports.page import Section, Table, as_of, bar, films, options, render, state_for_page
from mpi_es.run_file.imports import IN_ONE_CALL
from mpi_es.run_file.scores import best_is_infeasible, interval
from mpi_es.text import counted, duration, number, thousands

_LINES = """Seeds of one config share a colour: the strong line is their median, the band is their range up
to the end of the shortest run, and the pale lines are the single runs."""
_MEDIAN = "The median over the runs, with the lowest and the highest in brackets."
_BEST = """The centre of the search plays the held-out episodes. The best centre is the one with the highest
mean over them; the 95 % interval is in brackets. This score selected the centre, so it is biased upwards:
for an unbiased score evaluate with --seeds fresh."""


def page(runs: Sequence[Curves], place: Path) -> str:
    """Return the page of runs.

    Args:
        place: the directory of the page.
    """
    if len(runs) == 1:
        (run,) = runs
        by_generations, *others = figures.learning(run)
        panels = [*others, *figures.search([Group("", [run])])]
        title = f"Run {run.directory.resolve().name}"
        head = replace(_head(run), title=title, level=1, figures=drawn(panels, first=by_generations))
        head = replace(head, about=[*head.about, as_of(str(run.directory))], note=_note(runs))
        return render(title, [head, _phases(run, 2), *films(run.directory, place), _options(run)])
    title = f"{len(runs)} runs"
    sections = [Section(title, 1, about=[as_of()]), *_compared(grouped(runs)), _table_of_runs(runs)]
    for run in runs:
        sections += [replace(_head(run), figures=drawn(figures.learning(run))), _phases(run, 3)]
        inner = replace(_options(run), title="")
        sections.append(Section(folded=[("Options, commands and versions", [inner])]))
        sections += films(run.directory, place)
    return render(title, sections)


def _head(run: Curves) -> Section:
    """Return a section with the name of a run, its state, and its progress in numbers."""
    config, spoken = run.config, words([run])
    what = [config.problem, config.strategy.name, f"seed {config.seed}"]
    what.append(f"{counted(config.strategy.population_size, 'candidate')} in a generation")
    generations, steps, seconds = (run.axes[axis][-1] for axis in run.axes)
    speed = steps / seconds if seconds else 0.0
    unit = "calls" if config.function else "steps"
    score, bounds, at = _best(run)
    last = run.evaluations[-1] if run.evaluations else None
    late = number(run.config.sign * last.mean) if last else ""
    episodes = f"in {thousands(float(run.history['episodes'].sum()))} episodes"
    facts = [
        (spoken.best.capitalize(), score, f"{bounds} generation {at}" if run.best is not None else at),
        (spoken.last.capitalize(), late, f"generation {thousands(last.generation)}" if last else ""),
        ("Generations", thousands(generations), f"of {thousands(config.max_iter)}"),
        (spoken.steps.capitalize(), thousands(steps), "" if config.function else episodes),
        ("Wall time", duration(seconds), f"{number(speed)} {unit}/s"),
    ]
    return Section(
        str(run.directory),
        about=[", ".join(what)],
        state=state_for_page(run.content),
        warning=run.warning,
        facts=facts,
    )


def _phases(run: Curves, level: int) -> Section:
    """Return a section on where the time of a run went."""
    return Section("Where the time went", level, bar=bar(run.phases))


def _note(runs: Sequence[Curves]) -> str:
    """Return the note on the best centre, if it has several episodes of an environment."""
    several = any(run.best is not None and len(run.best) > 1 for run in runs)
    return _BEST if several and not runs[0].config.function else ""


def _options(run: Curves) -> Section:
    """Return a section with the options of a run and, unless a script started it, the commands to repeat,
    evaluate and film it.
    """
    config, directory = run.config, str(run.directory)
    text, lines = "The same run again, on any number of ranks", []
    if not config.function:
        lines.append(["evaluate", directory])
        text += "; its score"
        if not config.env.startswith(IN_ONE_CALL):  # those cannot be rendered
            lines.append(["evaluate", directory, "--video", f"{directory}/film.mp4"])
            text += "; and a film, which the next report shows"
    return options(config, run.content, "mpi_es", None if config.is_of_script else (text, lines))


def _best(run: Curves) -> tuple[str, str, str]:
    """Return the score of the best centre, the 95 % interval, and the generation."""
    if run.best is None:
        return "-", "", "not evaluated yet"
    at, score = thousands(float(run.content["best"]["generation"])), number(float(run.best.mean()))
    if len(run.best) == 1:
        return f"{score}, not feasible" if best_is_infeasible(run.content) else score, "", at
    low, high = map(number, interval(run.best))
    return score, f"[{low}, {high}]", at


def _compared(groups: Sequence[Group]) -> list[Section]:
    """Return the curves of groups of runs, and a table of their spread over the seeds."""
    by_generations, *others = (panel for row in figures.comparison(groups).values() for panel in row)
    panels = [*others, *figures.search(groups)]
    return [
        Section(figures=drawn(panels, first=by_generations), text=_LINES),
        Section("Over the seeds", text=_MEDIAN, table=_table_over_seeds(groups)),
    ]


def _table_over_seeds(groups: Sequence[Group]) -> Table:
    """Return a row for each group: the median and the range of its runs' results."""
    runs = [run for group in groups for run in group.runs]
    spoken = words(runs)
    titles = ["Runs", "Number", spoken.best.capitalize(), spoken.last.capitalize(), "Generations"]
    titles += [spoken.steps.capitalize(), "Wall time"]
    aimed = any(run.config.target_fitness is not None for run in runs)
    if aimed:
        titles += ["Reached the target", "In the generation"]
    rows = []
    for group in groups:
        best = [float(run.best.mean()) for run in group.runs if run.best is not None]
        last = [run.config.sign * run.evaluations[-1].mean for run in group.runs if run.evaluations]
        ends = {axis: [run.axes[axis][-1] for run in group.runs] for axis in AXES}
        row = [group.label, thousands(len(group.runs)), spread(best, number), spread(last, number)]
        row += [spread(ends["generations"], thousands), spread(ends["steps"], thousands)]
        row.append(spread(ends["seconds"], duration))
        if aimed:
            aiming = [run for run in group.runs if run.config.target_fitness is not None]
            reached = [float(at) for run in aiming if (at := run.first_at_target()) is not None]
            row += [f"{len(reached)} of {len(aiming)}" if aiming else "", spread(reached, thousands)]
        rows.append(row)
    return Table(titles, rows, stack=True)


def _table_of_runs(runs: Sequence[Curves]) -> Section:
    """Return a row for each run."""
    titles = ("Run", "Seed", words(runs).best.capitalize(), "95 % interval", "Of generation", "Generations")
    rows = []
    for run in runs:
        done = f"{thousands(run.axes['generations'][-1])} of {thousands(run.config.max_iter)}"
        rows.append([str(run.directory), f"{run.config.seed}", *_best(run), done])
    return Section("Each run", table=Table(titles, rows, stack=True), note=_note(runs))
