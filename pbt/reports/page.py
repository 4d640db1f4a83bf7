"""The page of a population: scores, hyperparameters, family tree, members, films, options and commands."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mpi_es.config.parts import as_options
from mpi_es.errors import UserError
from mpi_es.reports import elements
from mpi_es.reports.drawing import SMALL, Panel, drawn, merged
from mpi_es.reports.films import films
from mpi_es.reports.page import as_of, changed_options, figures_of, first_figure, libraries, state_of
from mpi_es.run_file.imports import IN_ONE_CALL
from mpi_es.run_file.scores import interval
from mpi_es.text import counted, duration, number, thousands
from pbt.config import Config
from pbt.lineage import Lineage, founders
from pbt.members import describe, find
from pbt.reports import figures
from pbt.selection import best

_SHOWN = 12  # members in the table; the others are folded away
_TREE = """A line leads from each member to the members that took over its state. Lines are coloured by
founder: the member of the first generation from which a member descends."""
_BEST = """The held-out score is the mean return of the generation's winner over held-out episodes; its 95 %
interval is in brackets. The best of these scores is a little too high, since it was chosen: for an unbiased
one evaluate with --seeds fresh."""


def page(
    directory: Path,
    config: Config,
    content: dict[str, Any],
    past: Lineage,
    scales: dict[str, str],
    toy: Sequence[Panel],
) -> str:
    """Return the page of a run.

    Args:
        scales: of the hyperparameters, by name.
        toy: the panels of the paper's figure 2.
    """
    title = f"Run {directory.resolve().name}"
    by_generations, *others = figures.scores(past, config.steps)
    parts = [elements.heading(title, 1), elements.faint(_what(config)), as_of(str(directory))]
    parts += [state_of(content), elements.facts(_facts(config, content, past)), *first_figure(by_generations)]
    small = [drawn(panel) for panel in [*others, *figures.lengths(past)]]
    parts += [elements.figures(small), elements.faint(_BEST) if past.evaluations else ""]
    if scales:
        parts += [elements.heading("Hyperparameters", 2)]
        parts += figures_of(figures.hyperparameters(past, scales))
    parts += [elements.heading("Family tree", 2), elements.faint(_TREE), *first_figure(figures.tree(past))]
    parts += [elements.heading("Members of the last generation", 2), *_members(past)]
    if toy:
        parts += [elements.heading("Figure 2 of the paper", 2), *_figure2(toy)]
    parts += films(directory, directory)
    parts += [elements.heading("Options and commands", 2)]
    parts += [elements.paragraph("Options that differ from the defaults:"), changed_options(config)]
    parts += [_commands(directory, config), libraries(content)]
    return elements.document(title, parts)


def _what(config: Config) -> str:
    """Return what was trained, and how."""
    rule = "no selection" if config.baseline else f"selection by {config.selection}"
    return f"{describe(config)}, {counted(config.num_agents, 'member')}, {rule}, seed {config.seed}"


def _facts(config: Config, content: dict[str, Any], past: Lineage) -> list[tuple[str, str, str]]:
    """Return the progress of a run in numbers."""
    done, last = len(past.generations), past.generations[-1]
    winner = best(last.score)
    copies = sum(one.copies for one in past.generations)
    return [
        ("Best held-out score", *_best(content, past)),
        (
            "Winner's score",
            number(float(last.score[winner])),
            f"member {winner}, generation {thousands(done)}",
        ),
        ("Generations", thousands(done), f"of {thousands(config.max_iter)}"),
        (
            "Steps of each member",
            thousands(done * config.steps),
            f"{thousands(config.steps)} in a generation",
        ),
        ("Copies", thousands(copies), f"{number(copies / done)} in a generation"),
        (
            "Wall time",
            duration(sum(past.seconds)),
            f"{number(sum(past.seconds) / done)} s a generation",
        ),
    ]


def _best(content: dict[str, Any], past: Lineage) -> tuple[str, str]:
    """Return the best held-out score with its interval, and whose it is."""
    kept = content["best"]
    found = [held.returns for _, held in past.evaluations if held.generation == kept["generation"]]
    if not found:
        return "-", "not evaluated yet"
    low, high = map(number, interval(found[-1]))
    bounds = f"[{low}, {high}] " if len(found[-1]) > 1 else ""
    whose = f"member {kept['member']}, generation {thousands(float(kept['generation']))}"
    return number(float(found[-1].mean())), bounds + whose


def _members(past: Lineage) -> list[str]:
    """Return a table of the members, the best first; those behind the first dozen are folded away."""
    last, lines = past.generations[-1], founders(past.stacked("source"))[-1]
    order = np.argsort(-np.where(np.isfinite(last.score), last.score, -np.inf), kind="stable").tolist()
    titles = [
        "Member",
        "Score",
        *(["Length"] if figures.has_lengths(past) else []),
        *past.names,
        "Founder",
        "Copies from",
    ]
    rows = []
    for member in order:
        source, score = int(last.source[member]), float(last.score[member])
        row = [thousands(member), number(score) if np.isfinite(score) else "diverged"]
        row += [number(float(last.length[member]))] if figures.has_lengths(past) else []
        row += map(number, last.hyperparameters[member].tolist())
        rows.append([*row, thousands(int(lines[member])), "-" if source == member else thousands(source)])
    tables = [
        elements.table(titles, part, numbers=range(len(titles))) for part in (rows[:_SHOWN], rows[_SHOWN:])
    ]
    if len(rows) <= _SHOWN:
        return tables[:1]
    return [tables[0], elements.details(f"The other {thousands(len(rows) - _SHOWN)} members", tables[1])]


def _figure2(panels: Sequence[Panel]) -> list[str]:
    """Return the panels of the paper's figure, and their key."""
    drawings = [drawn(panel, SMALL) for panel in panels]
    return [elements.key(merged(drawings)), elements.figures(drawings, small=True)]


def _commands(directory: Path, config: Config) -> str:
    """Return the commands that repeat, evaluate, film and export a run."""
    run = str(directory)
    lines = [["train", *as_options(replace(config, run_dir=""))]]
    lines.append(["evaluate", run])
    if config.member in ("es", "sb3") and not config.env.startswith(IN_ONE_CALL):  # those draw nothing
        lines.append(["evaluate", run, "--video", f"{run}/film.mp4"])
    if _is_replayed(config):
        lines.append(["replay", run])
    if config.member == "sb3":
        lines.append(["export", run, "--out", "agent.zip"])
    text = "The same run again, on any number of ranks, and what can be done with it"
    return elements.commands(
        text, [shlex.join(["python", "-m", f"pbt.{name}", *rest]) for name, *rest in lines]
    )


def _is_replayed(config: Config) -> bool:
    """Tell whether one rank can train such a member."""
    try:
        return not find(config).collective
    except UserError:  # of the user's own, and not installed here
        return False
