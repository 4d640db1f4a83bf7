"""The record of a generation that a script's callback gets."""

import math
from dataclasses import dataclass

import numpy as np

from mpi_es.arrays import Vector
from mpi_es.run import Run


@dataclass(frozen=True)
class Generation:
    """The argument of a callback after each generation; values are as the function returns them.

    For a policy, x is the parameters of the best centre, and value its held-out mean.
    """

    number: int  # the first is 1
    x: Vector | None  # (dim,) the best so far; None before the first held-out evaluation, if the run has any
    value: float  # of x
    centre: Vector  # (dim,) of the search
    values: Vector  # (population size,) or mean returns of a policy's candidates; NaN for a failed call
    constraints: Vector  # (population size, count) of a function; for a policy count is 0


def generation_of(run: Run) -> Generation:
    """Return the record of the run's last generation."""
    factor, known = run.config.sign, run.best.candidate.size > 0
    return Generation(
        number=run.progress.generation,
        x=np.array(run.best.candidate, np.float64) if known else None,
        value=factor * run.best.fitness + 0.0 if known else math.nan,
        centre=np.array(run.evaluator.rollout.policy.whole(run.strategy.centre), np.float64),
        values=factor * run.fitness + 0.0,
        constraints=run.constraint_values.copy(),
    )
