"""The history of a population, as run.h5 stores it, and the ancestors of a member."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.run_file.history import evaluations_content, read_evaluations
from mpi_es.run_file.records import HeldOut
from pbt.schema import check_names
from pbt.selection import best


@dataclass(frozen=True)
class Generation:
    """One generation: hyperparameters and scores of all members, and the members that they then copied."""

    number: int  # counts from 1
    score: NDArray[np.float64]  # (n,); NaN: diverged
    length: NDArray[np.float64]  # (n,) mean number of steps of an episode
    hyperparameters: NDArray[np.float64]  # (n, space)
    source: NDArray[np.int64]  # (n,) the member that each one copied, or itself

    @property
    def copies(self) -> int:
        """The number of members that copied another."""
        return int((self.source != np.arange(len(self.source))).sum())


@dataclass
class Lineage:
    """The generations and held-out evaluations of a run."""

    names: Sequence[str]  # of the hyperparameters
    generations: list[Generation] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # of each generation; not exact
    evaluations: list[tuple[int, HeldOut]] = field(default_factory=list)  # each with its member

    def content(self) -> dict[str, Any]:
        """Return the groups of run.h5; all arrays of /history are (generation, member)."""
        values = self.stacked("hyperparameters")
        return {
            "history": {
                **{name: self.stacked(name) for name in ("score", "length", "source")},
                "hyperparameters": {name: values[..., place] for place, name in enumerate(self.names)},
            },
            "timing": {"total": np.array(self.seconds)},
            "evaluations": {
                **evaluations_content([held_out for _, held_out in self.evaluations]),
                "member": np.array([member for member, _ in self.evaluations], np.int64),
            },
        }

    def winner_to_evaluate(self) -> int | None:
        """Return the winner of the last generation; None if it was evaluated already."""
        done, evaluated = self.generations, self.evaluations
        if not done or (evaluated and evaluated[-1][1].generation == done[-1].number):
            return None
        return best(done[-1].score)

    def stacked(self, name: str) -> NDArray[Any]:
        """Return one field of all generations, (generation, member) or (generation, member, space)."""
        rows = [getattr(row, name) for row in self.generations]
        return np.stack(rows) if rows else np.zeros((0, 0, len(self.names)))


def read(stored: dict[str, Any], names: Sequence[str]) -> Lineage:
    """Return the lineage in a run file; refuse one with hyperparameters other than `names`."""
    check_names(stored, names)
    history, held = stored["history"], stored["evaluations"]
    values = [history["hyperparameters"][name] for name in names]
    lineage = Lineage(names)
    for place, score in enumerate(history["score"]):
        lineage.generations.append(
            Generation(
                place + 1,
                score,
                history["length"][place],
                np.stack([value[place] for value in values], axis=-1) if names else np.zeros((len(score), 0)),
                history["source"][place],
            )
        )
    lineage.seconds = stored["timing"]["total"].tolist()
    lineage.evaluations = list(zip(held["member"].tolist(), read_evaluations(held), strict=True))
    return lineage


def ancestors(source: NDArray[np.int64], member: int) -> NDArray[np.int64]:
    """Return the ancestors (generations,) of a member of the last generation, one in each generation.

    Args:
        source: (generations, n); the copies after the last generation do not matter.
    """
    chain = np.empty(len(source), np.int64)
    for generation in range(len(source) - 1, -1, -1):
        chain[generation] = member
        if generation:
            member = int(source[generation - 1, member])
    return chain


def founders(source: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the founder (generations, n) of each member: its ancestor in the first generation.

    Args:
        source: (generations, n); the copies after the last generation do not matter.
    """
    lines = np.empty_like(source)
    for generation in range(len(source)):
        before = source[generation - 1] if generation else np.arange(source.shape[1])
        lines[generation] = lines[generation - 1][before] if generation else before
    return lines
