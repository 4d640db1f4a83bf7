"""The two orders of an agent's parameters in a file: torch's, and that of the paper's code."""

from math import prod

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.policies.base import Shapes

LAYOUTS = ("torch", "paper")


def arranged(shapes: Shapes, layout: str) -> Shapes:
    """Return shapes, given in torch's order, in a layout's: the paper's sorts the names in each layer."""
    if layout == "torch":
        return shapes
    layers = [*dict.fromkeys(name.rpartition(".")[0] for name in shapes)]
    by_layer = sorted(shapes, key=lambda name: (layers.index(name.rpartition(".")[0]), name))
    return {name: shapes[name] for name in by_layer}


def to_torch(numbers: Candidate, shapes: Shapes, layout: str) -> Candidate:
    """Return numbers (dim,), given in a layout's order, in torch's order."""
    return numbers[np.argsort(_places(shapes, layout))]


def from_torch(numbers: Candidate, shapes: Shapes, layout: str) -> Candidate:
    """Return numbers (dim,), given in torch's order, in a layout's order."""
    return numbers[_places(shapes, layout)]


def _places(shapes: Shapes, layout: str) -> NDArray[np.int64]:
    """Return for each number of a layout its index in torch's order, (dim,)."""
    ends = np.cumsum([prod(shape) for shape in shapes.values()])
    places = dict(zip(shapes, np.split(np.arange(ends[-1]), ends[:-1]), strict=True))
    return np.concatenate([places[name] for name in arranged(shapes, layout)])
