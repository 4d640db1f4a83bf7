"""The page of a population: scores, hyperparameters, family tree, members, films, options and commands."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mpi_es.config.parts import without_effect
from mpi_es.errors import UserError
from mpi_es.reports.drawing import Panel
from mpi_es.reports.drawing import figures as drawn
from mpi_es.reports.page import Section, Table, as_of, films, options, render, state_for_page
from mpi_es.run_file.imports import IN_ONE_CALL
from mpi_es.run_file.scores import interval
from mpi_es.text import counted, duration, number, thousands
from pbt.config import Config
from pbt.lineage import Lineage, founders
from pbt.members import find
from pbt.reports import figures
from pbt.selection import best

_SHOWN = 12  # members in the table; the others are collapsed
_TREE = """A line leads from each member to the members that copied its state. Lines are coloured by founder:
the member of the first generation from which a member descends."""
_BEST = """The held-out score is the mean return of the generation's winner over held-out episodes; its 95 %
interval is in brackets. The best of these scores is biased upwards, since it was selected: for an unbiased
score evaluate with --seeds fresh."""


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
    rule = "no selection" if config.selection == "none" else f"selection by {config.selection}"
    members = counted(config.num_agents, "member")
    by_generations, *others = figures.scores(past, config.steps)
    head = Section(
        title,
        1,
        about=[f"{config.trained}, {members}, {rule}, seed {config.seed}", as_of(str(directory))],
        state=state_for_page(content),
        facts=_facts(config, content, past),
        figures=drawn([*others, *figures.lengths(past)], first=by_generations),
        note=_BEST if past.evaluations else "",
    )
    sections = [head]
    if scales:
        sections.append(Section("Hyperparameters", figures=drawn(figures.hyperparameters(past, scales))))
    tree = drawn([], first=figures.tree(past))
    sections += [Section("Family tree", about=[_TREE], figures=tree), _members(past)]
    if toy:
        sections.append(Section("Figure 2 of the paper", figures=drawn(toy, small=True)))
    return render(title, [*sections, *films(directory, directory), _options(directory, config, content)])


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
            f"{thousands(config.steps)} per generation",
        ),
        ("Copies", thousands(copies), f"{number(copies / done)} per generation"),
        (
            "Wall time",
            duration(sum(past.seconds)),
            f"{number(sum(past.seconds) / done)} s per generation",
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


def _members(past: Lineage) -> Section:
    """Return a table of the members, the best first; those after the first dozen are collapsed."""
    last, lines = past.generations[-1], founders(past.stacked("source"))[-1]
    order = np.argsort(-np.where(np.isfinite(last.score), last.score, -np.inf), kind="stable").tolist()
    length = ["Length"] if figures.has_lengths(past) else []
    titles = ["Member", "Score", *length, *past.names, "Founder", "Copies from"]
    rows = []
    for member in order:
        source, score = int(last.source[member]), float(last.score[member])
        row = [thousands(member), number(score) if np.isfinite(score) else "diverged"]
        row += [number(float(last.length[member]))] if length else []
        row += map(number, last.hyperparameters[member].tolist())
        rows.append([*row, thousands(int(lines[member])), "-" if source == member else thousands(source)])
    shown, others = (Table(titles, part, left=0) for part in (rows[:_SHOWN], rows[_SHOWN:]))
    summary = f"The other {thousands(len(others.rows))} members"
    folded = [(summary, [Section(table=others)])] if others.rows else []
    return Section("Members of the last generation", table=shown, folded=folded)


def _options(directory: Path, config: Config, content: dict[str, Any]) -> Section:
    """Return a section with the options of a run, and the commands to repeat, evaluate,
    film and export it.
    """
    run = str(directory)
    lines = [["evaluate", run]]
    if config.member in ("es", "sb3") and not config.env.startswith(IN_ONE_CALL):  # those cannot be rendered
        lines.append(["evaluate", run, "--video", f"{run}/film.mp4"])
    if _is_replayed(config):
        lines.append(["replay", run])
    if config.member == "sb3":
        lines.append(["export", run, "--out", "agent.zip"])
    text = "The same run again, on any number of ranks; its score; and other uses"
    unused = {name: getattr(Config(), name) for name in without_effect(config)}  # the command refuses them
    return options(replace(config, **unused), content, "pbt", (text, lines))


def _is_replayed(config: Config) -> bool:
    """Return whether pbt.replay accepts such members."""
    try:
        return not find(config).collective
    except UserError:  # a user's member that is not installed here
        return False
