"""What is optimised instead of a policy: a function, where its search begins, and bounds."""

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpi_es.arrays import Candidate, Vector
from mpi_es.errors import expected
from mpi_es.strategies.integer_centering import Grid

# Of x (dim,), and of seed, comm, directory if it takes them; returns a number, or a pair of a number and an
# array of constraints.
Function = Callable[..., Any]
NO_NUMBER = (TypeError, ValueError, OverflowError, RuntimeError)  # of conversions; RuntimeError is torch's
OF_RANDOM = (  # fields without effect for a function that takes no seed
    "num_rollouts",
    "episode_seeds",
    "eval_every",
    "num_eval_rollouts",
)


@dataclass(frozen=True)
class Problem:
    """A function and where to search: x0 (dim,), and bounds (dim,).

    A strategy searches for x / scale, without bounds; within `margin` (dim,) of a bound x is bent. Parameters
    whose indices are `integers` are rounded.
    """

    function: Function
    x0: Vector
    lower: Vector
    upper: Vector
    scale: Vector
    margin: Vector
    minimise: bool = False
    integers: tuple[int, ...] = ()
    constraints: int = 0  # how many numbers the function returns next to its value

    def __post_init__(self) -> None:
        """Refuse a problem that cannot be searched."""
        if not callable(self.function):
            raise expected("function", "a callable", self.function)
        if any(not 0 <= index < len(self.x0) for index in self.integers):
            raise expected("--integers", f"indices from 0 to {len(self.x0) - 1}", [*self.integers])
        if self.constraints and takes(self.function, "seed"):
            raise expected("--constraints", "0 with a function that has an argument `seed`", self.constraints)
        if not (self.lower < self.upper).all():
            got = f"{short(self.lower)} and {short(self.upper)}"
            hint = "those of integers are rounded inwards" if self.integers else ""
            raise expected("--bounds", "lower bounds below the upper ones", got, hint)
        with np.errstate(over="ignore"):
            widths = 4 * (self.upper - self.lower)
        if (np.isinf(widths) & np.isfinite(self.lower) & np.isfinite(self.upper)).any():
            got = f"{short(self.lower)} and {short(self.upper)}"
            raise expected("--bounds", "less than 4e307 between lower and upper bounds", got)
        if not ((self.scale > 0) & np.isfinite(self.scale)).all():
            raise expected("--init-sigma", "numbers above 0", short(self.scale))

    @functools.cached_property
    def _is_unbounded(self) -> bool:
        return not (np.isfinite(self.lower) | np.isfinite(self.upper)).any()

    @property
    def dim(self) -> int:
        """The number of parameters."""
        return len(self.x0)

    @property
    def sign(self) -> float:
        """The factor from values of the function to fitness, which is maximised."""
        return -1.0 if self.minimise else 1.0

    def whole(self, x: Candidate | Vector) -> Vector:
        """Return the x (dim,) of a candidate, within the bounds."""
        inside = self._bent(np.multiply(x, self.scale, dtype=np.float64))
        if self.integers:
            where = list(self.integers)
            inside[where] = np.round(inside[where]) + 0.0  # no -0.0
        return inside

    @property
    def grid(self) -> Grid | None:
        """Which of a strategy's parameters are integers; None: all are continuous."""
        if not self.integers:
            return None
        distance, where = np.zeros(self.dim), list(self.integers)
        distance[where] = 1 / self.scale[where]
        return Grid(distance, self.lower / self.scale, self.upper / self.scale)

    @functools.cached_property
    def _unbent(self) -> tuple[Vector, Vector]:
        """The ends (dim,) between which a candidate is x itself."""
        return self.lower + self.margin, self.upper - self.margin

    @functools.cached_property
    def _mirrors(self) -> tuple[Vector, Vector]:
        """The ends (dim,) at which candidates are reflected: outside the bounds, by the margin."""
        return self.lower - self.margin, self.upper + self.margin

    def _bent(self, x: Vector) -> Vector:
        """Return an x (dim,) within the bounds.

        As in pycma x is a parabola from the margin inside a bound to the mirror outside, where it touches the
        bound. With a mirror on the bound itself an optimum there would be a kink, and take twice the calls.
        """
        low, high = self._unbent
        if self._is_unbounded or ((low <= x) & (x <= high)).all():
            return x  # the usual case; the code below takes 50 us
        x = self._reflected(x)
        below, above, (first, last) = x < low, x > high, self._mirrors
        x[below] = self.lower[below] + _parabola(x[below] - first[below], self.margin[below])
        x[above] = self.upper[above] - _parabola(last[above] - x[above], self.margin[above])
        return np.clip(x, self.lower, self.upper)

    def _reflected(self, x: Vector) -> Vector:
        """Return an x (dim,) between the mirrors."""
        first, last = self._mirrors
        below, above = x < first, x > last
        x[below] = 2 * first[below] - x[below]
        x[above] = 2 * last[above] - x[above]
        # What crossed the other mirror is further away than the width, so that mod loses no digits.
        outside = (x < first) | (x > last)
        low, high = first[outside], last[outside]
        folded = np.mod(x[outside] - low, 2 * (high - low))
        x[outside] = np.clip(low + np.minimum(folded, 2 * (high - low) - folded), low, high)
        return x

    def initial(self, seed: int) -> Vector:
        """Return the candidate of x0."""
        x, (low, high), (first, last) = self.x0.copy(), self._unbent, self._mirrors
        below, above = x < low, x > high
        x[below] = first[below] + _of_parabola(x[below] - self.lower[below], self.margin[below])
        x[above] = last[above] - _of_parabola(self.upper[above] - x[above], self.margin[above])
        return x / self.scale


def _parabola(distance: Vector, margin: Vector) -> Vector:
    """Return the distance of x from a bound, given that of the candidate from the mirror."""
    return np.asarray(distance * (distance / (2 * margin)) / 2)


def _of_parabola(distance: Vector, margin: Vector) -> Vector:
    """Return the distance of a candidate from the mirror, given that of x from the bound."""
    return np.asarray(2 * np.sqrt(margin) * np.sqrt(distance))


def problem(
    function: Function,
    x0: Any,
    bounds: Any = None,
    *,
    scale: Any = 1.0,
    sigma: float = 1.0,
    minimise: bool = False,
    integers: tuple[int, ...] = (),
    constraints: int = 0,
) -> Problem:
    """Return the problem; the bounds of integers are rounded inwards.

    Args:
        x0: (dim,), an array, a list or a torch vector.
        bounds: lower and upper, each a number or a vector; or a pair for each parameter. None means
            unbounded.
        scale: a number or a vector.
        sigma: the standard deviation of the first candidates, over scale.
    """
    start, scales = as_vector("--x0", x0), as_vector("--init-sigma", scale)
    if start.ndim != 1 or not len(start) or not np.isfinite(start).all():
        raise expected("--x0", "a vector of finite numbers", short(start))
    if scales.ndim and scales.shape != start.shape:
        rule = f"a number, or a vector of the shape {start.shape} of x0"
        raise expected("--init-sigma", rule, str(scales.shape))
    lower, upper = _bounds((None, None) if bounds is None else bounds, start)
    if not ((lower <= start) & (start <= upper)).all() and (lower < upper).all():
        raise expected("--x0", "numbers within --bounds", short(start))
    is_integer = np.isin(np.arange(len(lower)), integers)
    lower, upper = np.where(is_integer, np.ceil(lower), lower), np.where(is_integer, np.floor(upper), upper)
    start = np.clip(start, lower, upper)
    with np.errstate(over="ignore"):
        # As in pycma: wider steps are reflected so often that the centre says nothing of where they end.
        spread = np.minimum(scales, (upper - lower) / 3 / sigma)
        margin = np.where(is_integer, 0.0, sigma * spread / 2)
    return Problem(function, start, lower, upper, spread, margin, minimise, integers, constraints)


def _bounds(bounds: Any, x0: Vector) -> tuple[Vector, Vector]:
    """Return lower and upper bounds (dim,)."""
    rule = "a lower and an upper bound, or a pair for each parameter"
    if not hasattr(bounds, "__len__"):
        raise expected("--bounds", rule, short(bounds))
    readings = [bounds] if len(bounds) == 2 else []
    are_ends = readings and isinstance(bounds, tuple) and all(isinstance(end, np.ndarray) for end in bounds)
    are_pairs = len(bounds) == len(x0) and all(hasattr(pair, "__len__") and len(pair) == 2 for pair in bounds)
    if are_pairs and not are_ends:
        readings.append([*zip(*bounds, strict=True)])
    if not readings:
        raise expected("--bounds", rule, short(bounds))
    ends = [(_end(low, -math.inf, x0), _end(high, math.inf, x0)) for low, high in readings]
    possible = [(low, high) for low, high in ends if (low < high).all()]
    if len(possible) == 2 and not np.array_equal(possible[0], possible[1]):  # with two parameters
        hint = "a tuple of two arrays is read as lower and upper"
        raise expected("--bounds", "unambiguous bounds", short(bounds), hint)
    return (possible or ends)[0]


def _end(values: Any, unbounded: float, x0: Vector) -> Vector:
    """Return one end (dim,) of the bounds, from a number or a vector."""
    listed = [*values] if hasattr(values, "__len__") else values
    if isinstance(listed, list):
        listed = [unbounded if value is None else value for value in listed]
    end = as_vector("--bounds", unbounded if listed is None else listed)
    if end.ndim and end.shape != x0.shape:
        raise expected("--bounds", f"numbers, or vectors of the shape {x0.shape} of x0", str(end.shape))
    return np.broadcast_to(end, x0.shape).copy()


def as_vector(option: str, values: Any) -> Vector:
    """Return a copy of the values in float64."""
    try:
        return np.array(values.detach().cpu().numpy() if hasattr(values, "detach") else values, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise expected(option, "numbers", short(values)) from error


def as_number(value: Any) -> float:
    """Return a number, or a one-element array or tensor, as a float."""
    return float(value.item() if hasattr(value, "item") else value)


def short(values: Any) -> str:
    """Return values as an error shows them."""
    text = " ".join(str(values).split())
    return text if len(text) <= 60 else text[:60] + "…"


def takes(function: Function, name: str) -> bool:
    """Return whether a function has an argument of this name."""
    try:
        found = inspect.signature(function).parameters.get(name)
    except (TypeError, ValueError):  # a builtin without a signature
        return False
    return found is not None and found.kind is not inspect.Parameter.POSITIONAL_ONLY


def unused_fields(function: Function) -> dict[str, str]:
    """Return the fields of a config that have no effect with a function, each with the reason."""
    fields = {"seed": OF_RANDOM, "comm": ("ranks_per_call",), "directory": ("call_dirs",)}
    return {
        field: f"with a function that has no argument `{name}`"
        for name in fields
        if not takes(function, name)
        for field in fields[name]
    }
