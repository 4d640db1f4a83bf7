"""Selection: pure functions from the scores of a population to what each member copies.

Member i copies the state of source[i]; with source[i] == i it keeps its own. A member copies only from one
with a strictly higher score: ties keep their states, and the best never copies. A score that is not finite
means that the member diverged: it ranks below all others, and no member copies it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpi_es.parallel.collectives import offsets

_ROUNDING = 1e-9  # 0.29 * 100 must give 29, but is 28.999… in floating point
Scores = NDArray[np.float64]
Source = NDArray[np.int64]


@dataclass(frozen=True)
class Choice:
    """What each member copies; all arrays are (n,)."""

    source: Source  # the member whose state it copies
    guide: Source  # the member whose hyperparameters it copies
    explores: NDArray[np.bool_]  # whether it then changes them


@dataclass(frozen=True)
class SelectionRules:
    """What a selection depends on apart from the scores."""

    fraction: float = 0.25
    generation: int = 1
    periods: Sequence[int] = (1,)  # of the sub-populations of mf-pbt


def select(name: str, scores: Scores, rng: np.random.Generator, rules: SelectionRules) -> Choice:
    """Return what each member copies under the selection of this name.

    From a sub-population that is selected more often, a migrant brings its state but not its hyperparameters:
    those that help soon are not those that help late. It gets those of the best member of the sub-population
    that it joins. Migrants do not explore.
    """
    strength = np.where(np.isfinite(scores), scores, -np.inf)
    chosen = SELECTIONS[name](strength, rng, rules)
    keep = np.arange(len(scores))
    source = np.where(strength[chosen] > strength, chosen, keep)
    period = _period(len(scores), rules.periods if name == "mf-pbt" else (1,))
    leader = np.array([best(np.where(period == one, strength, -np.inf)) for one in period])
    leads = np.isfinite(strength[leader]) & (period[leader] == period)
    guide = np.where(period[source] < period, np.where(leads, leader, keep), source)
    return Choice(source, guide, (source != keep) & (period[source] == period))


def best(scores: Scores) -> int:
    """Return the member with the highest finite score, the first one in a tie."""
    return int(np.argmax(np.where(np.isfinite(scores), scores, -np.inf)))


def independent(strength: Scores, rng: np.random.Generator, rules: SelectionRules) -> Source:
    """Let all members keep their own states."""
    return np.arange(len(strength))


def winner_takes_all(strength: Scores, rng: np.random.Generator, rules: SelectionRules) -> Source:
    """Let all members copy the best."""
    return np.full(len(strength), best(strength))


def truncation(strength: Scores, rng: np.random.Generator, rules: SelectionRules) -> Source:
    """Let the bottom fraction, and all diverged members, copy uniformly drawn members of the top fraction.

    The fraction is at least one member.
    """
    n = len(strength)
    source, order, share = np.arange(n), _order(strength), _share(n, rules)
    top = order[:share][np.isfinite(strength[order[:share]])]
    # For every member, so that a draw does not depend on others' scores.
    drawn = rng.integers(0, max(1, len(top)), n)
    weak = set(order[n - share :].tolist()) | set(np.flatnonzero(np.isinf(strength)).tolist())
    for member in weak if len(top) else ():
        source[member] = top[drawn[member]]
    return source


def tournament(strength: Scores, rng: np.random.Generator, rules: SelectionRules) -> Source:
    """Let each member copy another one, uniformly drawn, if that one is better."""
    n = len(strength)
    return (np.arange(n) + rng.integers(1, max(2, n), n)) % n


def mf_pbt(strength: Scores, rng: np.random.Generator, rules: SelectionRules) -> Source:
    """Select in sub-populations of different periods, with migration, by the rules of arXiv:2506.03225.

    In a sub-population whose turn it is, the bottom fraction, and all diverged members, copy its top
    fraction, each winner once before any is copied twice. Each member of the fraction just above the bottom,
    also a diverged one, copies the best member of the other sub-populations that no other copies, if that one
    is better.
    """
    n = len(strength)
    source, period = np.arange(n), _period(n, rules.periods)
    for turn in rules.periods:
        if rules.generation % turn:
            continue
        group = np.flatnonzero(period == turn)
        order, share = group[_order(strength[group])], _share(len(group), rules)
        top = [member for member in order[:share] if np.isfinite(strength[member])]
        weak = [*order[len(order) - share :]]
        weak += [member for member in order[: len(order) - share] if np.isinf(strength[member])]
        for place, member in enumerate(weak if top else ()):
            source[member] = top[place % len(top)]
        migrants = [member for member in _order(strength) if period[member] != turn]
        for member in order[max(share, len(order) - 2 * share) : len(order) - share]:
            if migrants and strength[migrants[0]] > strength[member]:
                source[member] = migrants.pop(0)
    return source


def _period(n: int, periods: Sequence[int]) -> Source:
    """Return the period (n,) of each member's sub-population,
    of nearly equal sizes and consecutive members.
    """
    return np.repeat(np.array(periods), np.diff(offsets(n, len(periods))))


def _order(strength: Scores) -> Source:
    return np.argsort(-strength, kind="stable")


def _share(n: int, rules: SelectionRules) -> int:
    return max(1, int(n * rules.fraction + _ROUNDING))


SELECTIONS: dict[str, Callable[[Scores, np.random.Generator, SelectionRules], Source]] = {
    "winner-takes-all": winner_takes_all,
    "truncation": truncation,
    "tournament": tournament,
    "mf-pbt": mf_pbt,
    "none": independent,
}
