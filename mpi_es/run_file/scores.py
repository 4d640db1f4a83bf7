"""Scores in words and numbers: mean, deviation, the 95 % interval of the mean, and what disqualifies one."""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from mpi_es.arrays import Vector
from mpi_es.text import counted, number

_FEW = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706)  # Student's t of 1 to 5 degrees of freedom, 97.5 %


@dataclass(frozen=True, repr=False)
class Scores:
    """The returns of an agent's episodes; as text the line that `python -m mpi_es.evaluate` prints."""

    returns: Vector  # (episodes,)

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.returns.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the 95 % interval of the mean."""
        return interval(self.returns)

    def __repr__(self) -> str:
        return summary(self.returns)


def best_is_infeasible(content: dict[str, Any]) -> bool:
    """Return whether the best x of a run file violates a constraint of its function."""
    return "constraints" in content and bool((content["constraints"]["of_best"] > 0).any())


def summary(returns: Vector) -> str:
    """Return mean, deviation, extremes and the 95 % interval of the mean."""
    n, mean = len(returns), float(returns.mean())
    if n == 1:
        return f"{number(mean)} in one episode"
    least, most, low, high = map(number, (returns.min(), returns.max(), *interval(returns)))
    return (
        f"mean {mean_and_deviation(returns)} over {counted(n, 'episode')}, min {least}, max {most}, "
        f"95 % interval of the mean [{low}, {high}]"
    )


def mean_and_deviation(returns: Vector) -> str:
    """Return `mean ± deviation (deviation)`; the mean alone for one episode, which has no deviation."""
    mean, spread = number(float(returns.mean())), deviation(returns)
    return mean if math.isnan(spread) else f"{mean} ± {number(spread)} (deviation)"


def deviation(returns: Vector) -> float:
    """Return the sample standard deviation, with n - 1; NaN for one episode."""
    if len(returns) == 1:
        return math.nan
    return float((returns - returns[0]).std(ddof=1))  # exactly 0 for equal returns


def interval(returns: Vector) -> tuple[float, float]:
    """Return both ends of the 95 % interval of the mean."""
    mean, half = float(returns.mean()), half_interval(returns)
    return mean - half, mean + half


def half_interval(returns: Vector) -> float:
    """Return half of the width of the 95 % interval of the mean; 0 for one episode, which has none."""
    n = len(returns)
    return _student(n - 1) * deviation(returns) / math.sqrt(n) if n > 1 else 0.0


def _student(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t; for many degrees of freedom it is the normal one, 1.96."""
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    # Abramowitz and Stegun 26.7.5, to 5e-5 from six degrees of freedom on
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return float(z + sum(term / freedom**power for power, term in enumerate(terms, 1)))
