"""Selection: pure functions from the scores of a population to `source`.

Member i copies from source[i]; with source[i] == i it keeps its state. A member copies only from one with a
strictly higher score: ties keep their states, and the best never copies. A score that is not finite means
that the member diverged: it is below every other, and nobody copies from it.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import unknown

_ROUNDING = 1e-9  # 0.29 of 100 is 29, and 28.999… in binary
Scores = NDArray[np.float64]
Source = NDArray[np.int64]


def select(name: str, scores: Scores, rng: np.random.Generator, fraction: float = 0.25) -> Source:
    """Return the source (n,) of each member under the selection of this name."""
    if name not in SELECTIONS:
        raise unknown("--selection", name, SELECTIONS)
    strength = np.where(np.isfinite(scores), scores, -np.inf)
    chosen = SELECTIONS[name](strength, rng, fraction)
    keep = np.arange(len(scores))
    return np.where(strength[chosen] > strength, chosen, keep)


def best(scores: Scores) -> int:
    """Return the member with the highest finite score, the first one in a tie."""
    return int(np.argmax(np.where(np.isfinite(scores), scores, -np.inf)))


def winner_takes_all(strength: Scores, rng: np.random.Generator, fraction: float) -> Source:
    """Let all members copy the best."""
    return np.full(len(strength), best(strength))


def truncation(strength: Scores, rng: np.random.Generator, fraction: float) -> Source:
    """Let the bottom fraction, and all that diverged, copy from uniformly drawn members of the top fraction.

    The fraction is at least one member.
    """
    n = len(strength)
    source = np.arange(n)
    share = max(1, int(n * fraction + _ROUNDING))
    order = np.argsort(-strength, kind="stable")
    top = [member for member in order[:share] if np.isfinite(strength[member])]
    drawn = rng.integers(0, max(1, len(top)), n)  # for every member: a draw depends on no other's score
    weak = set(order[n - share :].tolist()) | set(np.flatnonzero(np.isinf(strength)).tolist())
    for member in weak if top else ():
        source[member] = top[drawn[member]]
    return source


def tournament(strength: Scores, rng: np.random.Generator, fraction: float) -> Source:
    """Let each member copy another one, uniformly drawn, if that one is better."""
    n = len(strength)
    return (np.arange(n) + rng.integers(1, max(2, n), n)) % n


SELECTIONS: dict[str, Callable[[Scores, np.random.Generator, float], Source]] = {
    "winner-takes-all": winner_takes_all,
    "truncation": truncation,
    "tournament": tournament,
}
