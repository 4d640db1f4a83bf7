"""Returns of episodes in words and numbers: mean, deviation, and the 95 % interval of the mean."""

import math

from mpi_es.arrays import Vector
from mpi_es.text import counted, number


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
    """Return `mean ± deviation (deviation)`; the mean alone where one episode has no deviation."""
    mean, spread = number(float(returns.mean())), deviation(returns)
    return mean if math.isnan(spread) else f"{mean} ± {number(spread)} (deviation)"


def deviation(returns: Vector) -> float:
    """Return the sample's standard deviation, by n - 1; NaN for one episode."""
    return float(returns.std(ddof=1)) if len(returns) > 1 else math.nan


def interval(returns: Vector) -> tuple[float, float]:
    """Return both ends of the 95 % interval of the mean."""
    mean, half = float(returns.mean()), half_interval(returns)
    return mean - half, mean + half


def half_interval(returns: Vector) -> float:
    """Return half of the width of the 95 % interval of the mean; 0 for one episode, which has none."""
    return 1.96 * deviation(returns) / math.sqrt(len(returns)) if len(returns) > 1 else 0.0
