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
    """A function and where to search: x0 (dim,), and bounds (dim,) at which x is reflected.

    A strategy searches for x / scale. Parameters whose indices are `integers` are rounded.
    """

    function: Function
    x0: Vector
    lower: Vector
    upper: Vector
    scale: Vector
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
            widths = 2 * (self.upper - self.lower)
        if (np.isinf(widths) & np.isfinite(self.lower) & np.isfinite(self.upper)).any():
            got = f"{short(self.lower)} and {short(self.upper)}"
            raise expected("--bounds", "less than 8e307 between lower and upper bounds", got)
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
        """Return the x (dim,) of a candidate, reflected at the bounds until it is within them."""
        inside = self._reflected(np.multiply(x, self.scale, dtype=np.float64))
        if self.integers:
            where = list(self.integers)
            inside[where] = np.round(inside[where]) + 0.0  # no -0.0
        return inside

    @property
    def grid(self) -> Vector | None:
        """The distance (dim,) between integers in a strategy's units, 0 for other parameters; None:
        no integers.
        """
        if not self.integers:
            return None
        grid, where = np.zeros(self.dim), list(self.integers)
        grid[where] = 1 / self.scale[where]
        return grid

    def _reflected(self, inside: Vector) -> Vector:
        """Return an x (dim,) within the bounds."""
        if self._is_unbounded or ((self.lower <= inside) & (inside <= self.upper)).all():
            return inside  # the usual case; the code below takes 50 us
        below, above = inside < self.lower, inside > self.upper
        inside[below] = 2 * self.lower[below] - inside[below]
        inside[above] = 2 * self.upper[above] - inside[above]
        # What crossed the other bound is further away than the width, so that mod loses no digits.
        outside = (inside < self.lower) | (inside > self.upper)
        low, high = self.lower[outside], self.upper[outside]
        folded = np.mod(inside[outside] - low, 2 * (high - low))
        inside[outside] = np.clip(low + np.minimum(folded, 2 * (high - low) - folded), low, high)
        return inside

    def initial(self, seed: int) -> Vector:
        """Return x0 as a candidate."""
        return self.x0 / self.scale


def problem(
    function: Function,
    x0: Any,
    bounds: Any = None,
    *,
    scale: Any = 1.0,
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
    spread = np.broadcast_to(scales, start.shape).copy()
    return Problem(function, start, lower, upper, spread, minimise, integers, constraints)


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
