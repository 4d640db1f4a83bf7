"""Rank 0's record of a population: run.h5, which it writes, and telemetry."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.config.parts import flat
from mpi_es.errors import warn
from mpi_es.run_file import checkpoint, description, imports
from mpi_es.run_file.records import HeldOut
from mpi_es.run_file.saver import Saver
from mpi_es.run_file.scores import mean_and_deviation
from mpi_es.run_file.training_plan import resuming
from mpi_es.telemetry.sinks import Telemetry
from pbt import schema
from pbt.config import Config
from pbt.lineage import Generation, Lineage
from pbt.packing import unpack
from pbt.population.exchange import Buffers
from pbt.telemetry.view import of_evaluation, of_generation


@dataclass(frozen=True)
class Winner:
    """The member with the best score, and its held-out evaluation."""

    member: int
    held_out: HeldOut
    states: Buffers  # holds the member's state, on rank 0
    values: NDArray[np.float64]  # (space,) of its hyperparameters


@dataclass
class Record:
    """The run's directory, its history and its telemetry."""

    config: Config
    directory: Path
    lineage: Lineage
    telemetry: Telemetry
    libraries: dict[str, str]
    best: dict[str, Any] = field(
        default_factory=lambda: {
            "generation": 0,
            "member": 0,
            "fitness": -math.inf,
            "state": {},
            "hyperparameters": {},
        }
    )

    def __post_init__(self) -> None:
        self.saver = Saver(self.directory, self.config.checkpoint_interval)

    def generation(self, done: Generation, seconds: float, winner: Winner | None) -> tuple[str, bool]:
        """Record and show a generation; return why it is the last (empty if not), and whether to save."""
        self.lineage.generations.append(done)
        self.lineage.seconds.append(seconds)
        if winner:
            self.add_evaluation(winner)
        held_out = winner.held_out if winner else None
        reason = self.telemetry.generation(of_generation(self.lineage.names, done, seconds, held_out))
        return reason, self.saver.is_due

    def add_last_evaluation(self, winner: Winner) -> None:
        """Record and show a held-out evaluation that follows the last generation."""
        self.add_evaluation(winner)
        self.telemetry.generation(of_evaluation(winner.held_out))

    def add_evaluation(self, winner: Winner) -> None:
        """Record a held-out evaluation, and the member's state if none was better."""
        self.lineage.evaluations.append((winner.member, winner.held_out))
        fitness = winner.held_out.mean
        if fitness > self.best["fitness"]:
            self.best = {
                "generation": winner.held_out.generation,
                "member": winner.member,
                "fitness": fitness,
                "hyperparameters": self._named(winner.values),
                "state": unpack(winner.states[winner.member]),
            }

    def save(
        self,
        generation: int,
        states: Buffers,
        values: NDArray[np.float64],
        reason: str = "",
        *,
        finished: bool = False,
        begin: float | None = None,
    ) -> None:
        """Write run.h5 and, if the run ends, the reason; collecting the states started at `begin`."""
        columns: Mapping[str, Any] = self._named(values.T)
        content = {
            "config": flat(self.config),
            "progress": {"generation": generation},
            "hyperparameters": columns,
            "members": {schema.name_of(index): unpack(states[index]) for index in sorted(states)},
            "best": self.best,
            "libraries": self.libraries,
        }
        self.saver.save(content | self.lineage.content(), reason, finished=finished, begin=begin)

    def _named(self, values: NDArray[np.float64]) -> dict[str, Any]:
        """Return values (space,) or (space, n) by hyperparameter."""
        return dict(zip(self.lineage.names, values, strict=True))

    def finish(self, generation: int, reason: str, *, finished: bool, was_over: bool) -> None:
        """Show why the run ended, or that it had ended before."""
        outcome = f"continue with\n{resuming('pbt.train', self.directory)}"
        if finished and self.lineage.evaluations:
            member, held_out = self.lineage.evaluations[-1]
            score = mean_and_deviation(held_out.returns)
            outcome = f"member {member} scores {score} held-out, in {self.directory}"
            if was_over:
                outcome += "; the run had already finished; to continue it, give a larger --max-iter"
        self.telemetry.finish(f"generation {generation}: {reason}; {outcome}")


def load(run: str | Path, *, allow_imports: bool | None = None) -> tuple[Config, dict[str, Any]]:
    """Return the config and the content of a run's file, with a warning if it is the previous checkpoint.

    Args:
        allow_imports: whether to import code that the file names; None if it is imported already.
    """
    content, warning = checkpoint.load_of("pbt.train", Path(run), schema.check)
    if warning:
        warn(warning)
    config = description.config_of(Config, content["config"])
    if allow_imports is not None:
        imports.check(config, run, allowed=allow_imports, fields=imports.AGENT)
    return config, content


def stored_values(stored: dict[str, Any], names: Sequence[str]) -> NDArray[np.float64]:
    """Return the hyperparameters (n, space) of the next generation from a run file."""
    columns = [stored["hyperparameters"][name] for name in names]
    return np.stack(columns, axis=1) if columns else np.zeros((len(stored["members"]), 0))
