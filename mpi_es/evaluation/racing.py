"""Racing: the first episodes for every candidate, the others for those that may still be in the better half.

CMA-ES learns from the order of the better half. In the worse half it learns where not to go, but its weights
there hardly differ, so that the order of those who are far below need not be known more exactly.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.evaluation.header import Evaluation
from mpi_es.strategies.base import Dense

# The share of candidates that is dropped; an eighth is left below the better half for chance. Of that half
# less than one in 200 was dropped after two episodes while CarRacing was learnt, and one in seven of agents
# that drive well (docs/carracing.md).
_DROPPED = 3 / 8

# Candidates and the mean, if it is one more, on their rows of seeds -> what they came to
Evaluate = Callable[[Dense, NDArray[np.int64], Vector | None], Evaluation]


def race(
    evaluate: Evaluate, population: Dense, seeds: NDArray[np.int64], mean: Vector | None, first: int
) -> Evaluation:
    """Return what candidates came to on their rows of seeds (candidates, episodes); NaN was not played.

    Args:
        first: episodes that all play.
        mean: evaluated as one more candidate, the last, which is never dropped.
    """
    heats = evaluate(population, seeds[:, :first], mean)
    stays = np.ones(len(seeds), bool)
    stays[: len(population)] = survivors(heats.returns[: len(population)])
    finals = evaluate(Dense(population.rows[stays[: len(population)]]), seeds[stays, first:], mean)
    returns, lengths = np.full(seeds.shape, np.nan), np.zeros(seeds.shape, np.int64)
    returns[:, :first], lengths[:, :first] = heats.returns, heats.lengths
    returns[stays, first:], lengths[stays, first:] = finals.returns, finals.lengths
    steps = heats.lengths.sum(), finals.lengths.sum()
    return Evaluation(
        returns=returns,
        lengths=lengths,
        sums=np.concatenate([heats.sums, finals.sums]),
        idle=float(np.average([heats.idle, finals.idle], weights=steps)),
    )


def survivors(returns: Vector, dropped: float = _DROPPED) -> NDArray[np.bool_]:
    """Tell who plays on (candidates,), by the returns (candidates, episodes) of the first episodes."""
    worst_first = np.argsort(returns.mean(axis=1), kind="stable")
    stays = np.ones(len(returns), bool)
    stays[worst_first[: int(dropped * len(returns))]] = False
    return stays


def ordered(fitness: Vector, returns: Vector) -> Vector:
    """Return the fitness (candidates,), that of all that were dropped moved below the others.

    Args:
        returns: (candidates, episodes) that the fitness is the mean of.
    """
    dropped = np.isnan(returns).any(axis=1)
    if dropped.any() and (ahead := fitness[dropped].max() - fitness[~dropped].min()) >= 0:
        return np.where(dropped, fitness - (ahead + 1), fitness)
    return fitness
