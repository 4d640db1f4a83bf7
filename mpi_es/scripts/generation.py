"""What a script sees of a generation."""

import math
from dataclasses import dataclass

import numpy as np

from mpi_es.arrays import Vector
from mpi_es.run import Run


@dataclass(frozen=True)
class Generation:
    """What a callback gets after each generation; values are the function's own, minimised or not.

    Of a policy, x is the parameters of the best centre, and value its held-out mean.
    """

    number: int  # the first is 1
    x: Vector | None  # (dim,) the best so far; None before the first held-out evaluation, where there are any
    value: float  # of x
    centre: Vector  # (dim,) of the search
    values: Vector  # (population size,) of the generation, mean returns of a policy; NaN where a call failed
    constraints: Vector  # (population size, count) of a function; none of a policy


def generation_of(run: Run) -> Generation:
    """Return what a callback gets of the run's last generation."""
    factor, known = run.config.sign, run.best.candidate.size > 0
    return Generation(
        number=run.progress.generation,
        x=np.array(run.best.candidate, np.float64) if known else None,
        value=factor * run.best.fitness + 0.0 if known else math.nan,
        centre=np.array(run.evaluator.rollout.policy.whole(run.strategy.centre), np.float64),
        values=factor * run.fitness + 0.0,
        constraints=run.constraint_values,
    )
