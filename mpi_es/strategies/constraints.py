"""The constraints of a run: penalties for its strategy, and how close to feasible its candidates are.

Constraints are arrays (…, count), met where all are <= 0. A run without constraints has a count of 0.
"""

import math
from typing import Any

import numpy as np

from mpi_es.arrays import Vector
from mpi_es.run_file.description import from_plain, to_plain
from mpi_es.run_file.history import Table
from mpi_es.run_file.records import Feasibility
from mpi_es.run_file.rules import check_group
from mpi_es.strategies.augmented_lagrangian import AugmentedLagrangian, LagrangianState
from mpi_es.strategies.restore import rules_like
from mpi_es.text import number


def violation(constraints: Vector) -> Vector:
    """Return the sums (…) of the constraints that are violated."""
    return np.maximum(constraints, 0).sum(axis=-1)  # type: ignore[no-any-return]


class Constraints:
    """The constraints of a run of `dim` parameters.

    Args:
        stored: the group of a run file.
    """

    def __init__(self, dim: int, count: int, stored: dict[str, Any] | None = None) -> None:
        self.dim, self.count = dim, count
        self.begin()
        self.of_best = np.full(count, np.inf)  # at the run's best x; infinite before there is one
        self._rows = Table(Feasibility, stored)
        if stored:
            self.of_best = stored["of_best"]
            example = to_plain(self._lagrangian.state)
            check_group(stored["lagrangian"], rules_like(example), "/constraints/lagrangian")
            self._lagrangian.state = from_plain(LagrangianState, stored["lagrangian"])

    def begin(self) -> None:
        """Begin with new penalties; those of a start that is over have grown with its small last steps."""
        self._lagrangian = AugmentedLagrangian(self.dim, self.count)

    def penalised(self, fitness: Vector, constraints: Vector) -> Vector:
        """Return the fitness (n,) that the strategy gets."""
        return -self._lagrangian.loss(-fitness, constraints) if self.count else fitness

    def best(self, fitness: Vector, constraints: Vector) -> int:
        """Return the candidate with the highest fitness among those with the least violation."""
        if not self.count:  # here and below: the general form would take 15 us per generation
            return int(np.nanargmax(fitness))
        violations = violation(constraints)
        return int(np.nanargmax(np.where(violations == np.nanmin(violations), fitness, np.nan)))

    def improves(self, fitness: float, constraints: Vector, best: float) -> bool:
        """Return whether a candidate is better than the run's best, whose fitness is given."""
        if not self.count:
            return bool(fitness > best)
        new, old = float(violation(constraints)), float(violation(self.of_best))
        return (-new, fitness) > (-old, best)

    def best_feasible(self, fitness: Vector, constraints: Vector) -> float:
        """Return the highest fitness of a feasible candidate; NaN if none is feasible."""
        feasible = fitness[violation(constraints) == 0]
        return float(feasible.max()) if len(feasible) else math.nan

    def update(self, fitness: Vector, constraints: Vector) -> Feasibility | None:
        """Adapt the penalties to a generation; return its record, None without constraints."""
        if not self.count:
            return None
        violations, penalised = violation(constraints), self.penalised(fitness, constraints)
        row = Feasibility(
            feasible=int((violations == 0).sum()),
            violation=float(violations.min()),
            penalised=float(penalised.max()),
            penalised_min=float(penalised.min()),
        )
        self._lagrangian.update(-fitness, constraints)
        self._rows.append(row)
        return row

    def remark(self) -> str:
        """Return a remark if the best x or the last candidates are not feasible; else an empty text."""
        least, last = float(violation(self.of_best)), self._rows.content()["violation"][-1:]
        if least:
            return f", which is not feasible: the smallest violation is {number(least)}"
        if (last > 0).any():
            return f"; the last candidates violate the constraints by {number(float(last[0]))} or more"
        return ""

    @property
    def history(self) -> dict[str, Any]:
        """The columns (generations,) of Feasibility; empty without constraints."""
        return self._rows.content() if self.count else {}

    def content(self) -> dict[str, Any]:
        """Return the group of a run file."""
        state = to_plain(self._lagrangian.state)
        return {"of_best": self.of_best, "lagrangian": state} | self.history
