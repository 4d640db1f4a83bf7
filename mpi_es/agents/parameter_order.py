"""The orders in which a file may hold an agent's parameters: torch's, and that of the paper's own code."""

from math import prod

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.policies.base import Policy

Shapes = dict[str, tuple[int, ...]]  # parameters by name, in the order in which they lie
LAYOUTS = ("torch", "paper")


def shapes_of(policy: Policy) -> Shapes:
    """Return the shapes of a policy's parameters, in torch's order."""
    return {name: tuple(parameter.shape) for name, parameter in policy.module().named_parameters()}


def arranged(shapes: Shapes, layout: str) -> Shapes:
    """Return shapes in torch's order as they lie in a layout: the paper's sorts the names in each layer."""
    if layout == "torch":
        return shapes
    layers = [*dict.fromkeys(name.rpartition(".")[0] for name in shapes)]
    by_layer = sorted(shapes, key=lambda name: (layers.index(name.rpartition(".")[0]), name))
    return {name: shapes[name] for name in by_layer}


def to_torch(numbers: Candidate, shapes: Shapes, layout: str) -> Candidate:
    """Return numbers (dim,) that lie in a layout, in torch's order."""
    return numbers[np.argsort(_places(shapes, layout))]


def from_torch(numbers: Candidate, shapes: Shapes, layout: str) -> Candidate:
    """Return numbers (dim,) in torch's order as they lie in a layout."""
    return numbers[_places(shapes, layout)]


def _places(shapes: Shapes, layout: str) -> NDArray[np.int64]:
    """Return where in torch's order each number of a layout lies, (dim,)."""
    ends = np.cumsum([prod(shape) for shape in shapes.values()])
    places = dict(zip(shapes, np.split(np.arange(ends[-1]), ends[:-1]), strict=True))
    return np.concatenate([places[name] for name in arranged(shapes, layout)])
