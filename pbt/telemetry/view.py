"""The numbers of a population's generation, and what consoles show of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mpi_es.run_file.records import HeldOut, scalars
from mpi_es.telemetry.view import Numbers, PanelRows, View, pairs
from pbt.config import Config
from pbt.lineage import Generation, Lineage
from pbt.selection import best

_COLUMNS = {
    "best": (7, "score/best"),
    "mean": (7, "score/mean"),
    "member": (6, "member"),
    "copies": (6, "copies"),
    "diverged": (8, "diverged"),
    "length": (6, "episode_length/best"),
    "held-out": (8, "held_out/mean"),
    "seconds": (7, "seconds/total"),
}


def of_generation(
    names: Sequence[str], done: Generation, seconds: float, held_out: HeldOut | None
) -> Numbers:
    """Return the numbers of a generation; those of member 3 end in /3.

    Args:
        names: of the hyperparameters.
    """
    winner, known = best(done.score), done.score[np.isfinite(done.score)]
    numbers = {
        "generation": done.number,
        "score/best": float(done.score[winner]),
        "score/mean": float(known.mean()),
        "member": winner,
        "copies": done.copies,
        "diverged": len(done.score) - len(known),
        "episode_length/best": float(done.length[winner]),
        "seconds/total": seconds,
    }
    columns = dict(zip(names, done.hyperparameters.T, strict=True))
    columns |= {"score": done.score, "episode_length": done.length}
    for name, column in columns.items():
        numbers |= {f"{name}/{member}": value for member, value in enumerate(column.tolist())}
    copied = enumerate(done.source.tolist())
    numbers |= {f"copied/{member}": source for member, source in copied if source != member}
    return numbers | (dict(scalars(held_out)) if held_out else {})


def of_evaluation(held_out: HeldOut) -> Numbers:
    """Return the numbers of a held-out evaluation."""
    return {"generation": held_out.generation} | dict(scalars(held_out))


def of_past(past: Lineage) -> Iterator[Numbers]:
    """Yield the best score of earlier generations, then the held-out evaluations."""
    for done in past.generations:
        yield {"generation": done.number, "score/best": float(done.score[best(done.score)])}
    for _, held_out in past.evaluations:
        yield of_evaluation(held_out)


def view_of(config: Config, names: Sequence[str]) -> View:
    """Return the view of a population.

    Args:
        names: of the hyperparameters.
    """
    rule = "no selection" if config.selection == "none" else config.selection
    return View(
        name=config.trained,
        details=f"{rule}, seed {config.seed}",
        directory=config.directory,
        max_iter=config.max_iter,
        columns=_COLUMNS,
        course="score/best",
        scores=_scores,
        table=lambda numbers, width, lines: _members(names, numbers, width, lines),
    )


def _scores(numbers: Numbers) -> PanelRows:
    """Return the row of the scores."""
    names = ("member", "copies", "diverged")
    return {
        "score": pairs(numbers, {"best": "score/best", "mean": "score/mean"} | {name: name for name in names})
    }


def _members(names: Sequence[str], numbers: Numbers, width: int, lines: int) -> list[Any]:
    """Return a table of the best members and hyperparameters, as many as fit."""
    from pbt.telemetry.members import draw  # rich, which only rank 0 needs

    return draw(names, numbers, width, lines)
