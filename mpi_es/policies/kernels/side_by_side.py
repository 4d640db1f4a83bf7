"""Several networks of one shape, one after another in one call of compiled code."""

from functools import cache
from typing import Any

from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import row


@cache
def all_of(act: Any) -> Any:
    """Return act_all(weights, observations, memories, scratch, outputs): a kernel's step for k rows.

    The result of a row does not depend on the others.
    """

    @compiled()
    def act_all(weights: Any, observations: Any, memories: Any, scratch: Any, outputs: Any) -> None:
        for i in range(len(observations)):
            act(row(weights, i), row(observations, i), row(memories, i), scratch, row(outputs, i))

    return act_all
