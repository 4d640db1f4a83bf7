import math

import numpy as np

NEST = """
import math

from mpi_es.jit.decorator import compiled


@compiled()
def inner(x):
    return math.sin(x) + 1.0


@compiled()
def middle(x):
    return inner(x) * inner(-x)


@compiled()
def outer(x):
    total = 0.0
    for i in range(len(x)):
        total += middle(x[i])
    return total
"""


def test_of_a_nest_of_functions_only_the_one_that_python_calls_becomes_machine_code(load):
    nest = load(NEST)
    x = np.linspace(0, 3, 7)
    expected = sum((math.sin(v) + 1) * (math.sin(-v) + 1) for v in x.tolist())
    assert abs(nest.outer(x) - expected) < 1e-12
    for function in (nest.inner, nest.middle):
        assert "entry" not in vars(function)  # nobody asked for the form that Python calls
        (library,) = (result.library for result in function.callee.overloads.values())
        assert type(library).__name__ == "_IRLibrary"
