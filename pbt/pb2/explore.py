"""PB2's exploration: members that copied get the hyperparameters with the highest upper confidence bound.

The bandit's reward is the change of a score in one generation. It depends on the generation, on the previous
score and on the hyperparameters, which the bandit chooses. Members of one generation are handled one after
another: for each, the hyperparameters of those that train at the same time count as tried, with a gain that
is not known yet, so that they only lower the variance (GP-BUCB, Desautels et al. 2014).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from pbt.explore import Hyperparameter
from pbt.lineage import Generation
from pbt.pb2.gaussian_process import Process, Rows, fitted

_C_1, _C_2 = 0.2, 0.4  # beta_t = c_1 + log(c_2 t)
_NEWEST = 256  # rows given to the process: its time grows with their cube, and it forgets old ones
_UNIFORM, _NEAR = 512, 128  # points at which the bound is evaluated: uniform ones, then ones near the best
_STEPS = (0.1, 0.03, 0.01)  # standard deviations of the near ones


def explore(
    space: Sequence[Hyperparameter],
    past: Sequence[Generation],
    values: Rows,
    generators: Mapping[int, np.random.Generator],
) -> Rows:
    """Return the next hyperparameters (n, space).

    Args:
        past: all generations; the members copied after the last one.
        values: of the next generation, before exploration, (n, space).
        generators: of the members that explore.
    """
    rows, gains = data(space, past)
    ahead = _ahead(space, past[-1], values)
    _normalise(rows, ahead)
    explored, busy = values.copy(), [member for member in range(len(values)) if member not in generators]
    process = fitted(rows, _standardised(gains))
    for member, rng in generators.items():
        tried = np.concatenate([rows, ahead[busy]])
        spread = Process(process.kernel, tried, np.zeros(len(tried)))
        place = _highest(_bound(process, spread, ahead[member, :2]), len(space), rng)
        explored[member] = [one.at(each) for one, each in zip(space, place.tolist(), strict=True)]
        ahead[member, 2:] = _places(space, explored[member])  # rounding moves those of integers and choices
        busy.append(member)
    return explored


def data(space: Sequence[Hyperparameter], past: Sequence[Generation]) -> tuple[Rows, Rows]:
    """Return the newest rows (k, 2 + space) of generation, score before and places, and their gains (k,)."""
    rows: list[list[float]] = []
    gains: list[float] = []
    for done, before in pairwise(reversed(past)):
        start = before.score[before.source]  # of the state that each member trained on
        for member in reversed(np.flatnonzero(np.isfinite(start) & np.isfinite(done.score)).tolist()):
            rows.append([done.number, start[member], *_places(space, done.hyperparameters[member])])
            gains.append(done.score[member] - start[member])
        if len(rows) >= _NEWEST:
            break
    table = np.array(rows, float).reshape(-1, 2 + len(space))
    return table[:_NEWEST][::-1], np.array(gains, float)[:_NEWEST][::-1]


def _ahead(space: Sequence[Hyperparameter], last: Generation, values: Rows) -> Rows:
    """Return the rows (n, 2 + space) of the next generation;
    a diverged member starts from the lowest score.
    """
    start = np.where(np.isfinite(last.score), last.score, last.score[np.isfinite(last.score)].min())
    places = [_places(space, row) for row in values]
    return np.column_stack([np.full(len(values), last.number + 1.0), start[last.source], places])


def _places(space: Sequence[Hyperparameter], values: Rows) -> list[float]:
    return [one.place(value) for one, value in zip(space, values.tolist(), strict=True)]


def _normalise(rows: Rows, ahead: Rows) -> None:
    """Scale the scores of both tables to [0, 1], in place."""
    scores = np.concatenate([rows[:, 1], ahead[:, 1]])
    for table in (rows, ahead):
        table[:, 1] = (table[:, 1] - scores.min()) / (np.ptp(scores) or 1.0)


def _standardised(gains: Rows) -> Rows:
    return (gains - gains.mean()) / (gains.std() or 1.0) if len(gains) else gains


def _bound(process: Process, spread: Process, context: Rows) -> Callable[[Rows], Rows]:
    """Return the upper confidence bound as a function of positions (k, space), given generation and score."""
    beta = _C_1 + math.log(max(1.0, _C_2 * len(process.rows)))

    def bound(places: Rows) -> Rows:
        points = np.column_stack([np.tile(context, (len(places), 1)), places])
        mean, variance = process.predict(points)[0], spread.predict(points)[1]
        return mean + np.sqrt(beta * variance)

    return bound


def _highest(bound: Callable[[Rows], Rows], dim: int, rng: np.random.Generator) -> Rows:
    """Return the position (dim,) of the highest bound found: among uniform points, then near the best one."""
    places: Rows = rng.random((_UNIFORM, dim))
    best: Rows = places[np.argmax(bound(places))]
    for step in _STEPS:
        near = np.clip(best + step * rng.standard_normal((_NEAR, dim)), 0, 1)
        places = np.concatenate([best[None], near])
        best = places[np.argmax(bound(places))]
    return best
