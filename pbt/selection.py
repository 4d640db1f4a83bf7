"""Who copies whom: pure functions from the scores of a population to `source`.

Member i copies from source[i], and source[i] == i keeps what it has. A member copies only from one that
scored strictly more, so ties keep, and the best never copies. A score that is not finite is a member that
diverged: it is below every other, and nobody copies from it.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import unknown

_ROUNDING = 1e-9  # 0.29 of 100 is 29, and 28.999… in binary
Scores = NDArray[np.float64]
Source = NDArray[np.int64]


def select(name: str, scores: Scores, draw: np.random.Generator, fraction: float = 0.25) -> Source:
    """Return the source (n,) of each member, by the selection of that name."""
    if name not in SELECTIONS:
        raise unknown("--selection", name, SELECTIONS)
    strength = np.where(np.isfinite(scores), scores, -np.inf)
    chosen = SELECTIONS[name](strength, draw, fraction)
    keep = np.arange(len(scores))
    return np.where(strength[chosen] > strength, chosen, keep)


def best(scores: Scores) -> int:
    """Return the member with the highest finite score, the first of several."""
    return int(np.argmax(np.where(np.isfinite(scores), scores, -np.inf)))


def winner_takes_all(strength: Scores, draw: np.random.Generator, fraction: float) -> Source:
    """Let everybody copy the best."""
    return np.full(len(strength), best(strength))


def truncation(strength: Scores, draw: np.random.Generator, fraction: float) -> Source:
    """Let the bottom fraction, and all that diverged, copy from uniformly drawn members of the top fraction.

    A fraction that leaves nobody takes one member.
    """
    n = len(strength)
    source = np.arange(n)
    share = min(max(1, int(n * fraction + _ROUNDING)), n // 2)
    order = np.argsort(-strength, kind="stable")
    top = [member for member in order[:share] if np.isfinite(strength[member])]
    drawn = draw.integers(0, max(1, len(top)), n)  # one for each, so that no draw hangs on another's score
    weak = set(order[n - share :].tolist()) | set(np.flatnonzero(np.isinf(strength)).tolist())
    for member in weak if top else ():
        source[member] = top[drawn[member]]
    return source


def tournament(strength: Scores, draw: np.random.Generator, fraction: float) -> Source:
    """Let each member meet another one, uniformly drawn, and copy it if that is the better one."""
    n = len(strength)
    return (np.arange(n) + draw.integers(1, max(2, n), n)) % n


SELECTIONS: dict[str, Callable[[Scores, np.random.Generator, float], Source]] = {
    "winner-takes-all": winner_takes_all,
    "truncation": truncation,
    "tournament": tournament,
}
