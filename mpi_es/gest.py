"""A generator of the gest-api standard, for frameworks such as Xopt, optimas and libEnsemble.

It is imported from here, `from mpi_es.gest import ESGenerator`, since gest-api is an optional package.
"""

import math
import operator
from typing import Any

import numpy as np

from mpi_es.extras import needs
from mpi_es.search import Search

try:
    from gest_api import Generator
    from gest_api.vocs import (
        VOCS,
        BoundsConstraint,
        ContextualVariable,
        ContinuousVariable,
        GreaterThanConstraint,
        LessThanConstraint,
        MaximizeObjective,
        MinimizeObjective,
    )
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"mpi_es.gest {needs(error.name or '')}", name=error.name) from error

__all__ = ["ESGenerator"]


class ESGenerator(Generator):
    """Suggests the candidates of a `Search`, one generation after another.

        generator = ESGenerator(vocs, population_size=16)
        while not generator.search.done:
            points = generator.suggest()
            generator.ingest([point | {"f": function(point)} for point in points])

    The values of a generation may come in any order and in several calls; the last one ends the generation.

    Args:
        vocs: continuous variables with finite domains, one objective, and constraints. The search begins at a
            variable's default value, or in the middle of its domain.
        sigma: the standard deviation of the first generation, as a share of each domain.
        options: those of `Search`, such as population_size and seed; the constraints are those of vocs.
    """

    returns_id = True

    def __init__(self, vocs: VOCS, sigma: float = 0.2, **options: Any) -> None:
        super().__init__(vocs)
        self.vocs = vocs
        ((self._objective, kind),) = vocs.objectives.items()
        lower, upper = np.array(vocs.bounds).T
        if "constraints" in options:
            raise ValueError("constraints: expected those of vocs only")
        self.search = Search(
            [_beginning(variable) for variable in vocs.variables.values()],
            sigma * (upper - lower),
            minimise=isinstance(kind, MinimizeObjective),
            bounds=(lower, upper),
            constraints=sum(
                2 if isinstance(one, BoundsConstraint) else 1 for one in vocs.constraints.values()
            ),
            **options,
        )
        self._points: list[dict[str, Any]] = []  # of the current generation; empty between generations
        self._suggested = 0  # how many of them
        # By _id: value and constraints of the points that were evaluated.
        self._values: dict[int, tuple[float, list[float]]] = {}
        self._next_id = 0

    def _validate_vocs(self, vocs: VOCS) -> None:
        """Refuse a problem that a `Search` cannot solve, with a ValueError."""
        if not vocs.variables:
            raise ValueError("vocs.variables: expected one or more, got none")
        for name, variable in vocs.variables.items():
            _check_variable(f"vocs.variables[{name!r}]", variable)
        kinds = [type(objective) for objective in vocs.objectives.values()]
        if len(kinds) != 1 or not issubclass(kinds[0], (MinimizeObjective, MaximizeObjective)):
            got = ", ".join(kind.__name__ for kind in kinds) or "none"
            raise ValueError(f"vocs.objectives: expected one, MINIMIZE or MAXIMIZE, got {got}")

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """Return the next points of the generation; without a number, all remaining ones."""
        if not self._points:
            self._begin_generation()
        left = len(self._points) - self._suggested
        count = left if num_points is None else operator.index(num_points)
        if not 0 <= count <= left:
            rule = f"at most {left} before all {len(self._points)} values of the generation are ingested"
            raise ValueError(f"num_points: expected {rule}, got {num_points}")
        self._suggested += count
        return [dict(point) for point in self._points[self._suggested - count : self._suggested]]

    def ingest(self, results: list[dict[str, Any]]) -> None:
        """Take the values of suggested points; the generation ends with its last one.

        A point ranks last if its value or a constraint is missing or NaN. Points without `_id` come from
        elsewhere and have no effect.
        """
        values: dict[int, tuple[float, list[float]]] = {}
        waiting = {point["_id"] for point in self._points[: self._suggested]} - self._values.keys()
        for result in results:
            identity = result.get("_id")
            if identity is None or identity != identity:  # optimas writes None, pandas NaN
                continue
            if identity not in waiting:
                raise ValueError(f"_id: expected that of a suggested point without a value, got {identity!r}")
            value = _number(result, self._objective)
            waiting.remove(identity)
            values[int(identity)] = value, self._constraints(result)
        self._values |= values  # only now: a call that raises has no effect
        if self._points and len(self._values) == len(self._points):
            told, constraints = zip(*(self._values[point["_id"]] for point in self._points), strict=True)
            # Before tell, which raises if all points failed.
            self._points, self._suggested, self._values = [], 0, {}
            self.search.tell(told, constraints if self.vocs.constraints else None)

    def _constraints(self, result: dict[str, Any]) -> list[float]:
        """Return the constraints of a result, which are met where they are <= 0."""
        found: list[float] = []
        for name, constraint in self.vocs.constraints.items():
            value = _number(result, name)
            if isinstance(constraint, LessThanConstraint):
                found.append(value - constraint.value)
            elif isinstance(constraint, GreaterThanConstraint):
                found.append(constraint.value - value)
            else:
                low, high = constraint.range
                found += low - value, value - high
        return found

    def _begin_generation(self) -> None:
        """Ask for the candidates of the next generation."""
        constants = {name: constant.value for name, constant in self.vocs.constants.items()}
        self._points = [
            dict(zip(self.vocs.variables, x.tolist(), strict=True)) | constants | {"_id": identity}
            for identity, x in enumerate(self.search.ask(), self._next_id)
        ]
        self._next_id += len(self._points)


def _number(result: dict[str, Any], name: str) -> float:
    """Return a number of a result; NaN if it is missing: Xopt leaves out the values of a failed call."""
    found = result.get(name)
    value = math.nan if found is None else float(found)
    if math.isinf(value):
        raise ValueError(f"{name}: expected a finite number, or NaN, got {value}")
    return value


def _check_variable(place: str, variable: Any) -> None:
    """Refuse a variable that is not a real number within bounds."""
    if not isinstance(variable, ContinuousVariable) or isinstance(variable, ContextualVariable):
        raise ValueError(f"{place}: expected a ContinuousVariable, got a {type(variable).__name__}")
    if np.dtype(variable.dtype).kind != "f":  # that of None is float64
        raise ValueError(f"{place}: expected a dtype of real numbers, got {variable.dtype!r}")
    if not np.isfinite(variable.domain).all():
        raise ValueError(f"{place}: expected a finite domain, got {variable.domain}")
    lower, upper = variable.domain
    if not lower <= _beginning(variable) <= upper:
        raise ValueError(f"{place}: expected a default in {variable.domain}, got {variable.default_value}")


def _beginning(variable: Any) -> float:
    """Return the value of a variable at which the search begins."""
    given = variable.default_value
    return float(np.mean(variable.domain) if given is None else given)
