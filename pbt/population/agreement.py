"""All ranks go on, or all raise the same exception."""

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

import numpy as np

from mpi_es.errors import RolloutError, UserError
from mpi_es.parallel.collectives import Comm, bcast_object, gather_objects, share_rows
from mpi_es.parallel.stop_signal import Stopped
from pbt.members.base import Diverged

T = TypeVar("T")


class MemberFailed(RolloutError):
    """A member that raised, with its rank, its index and its traceback."""


ENDINGS = (Diverged, Stopped, MemberFailed)  # of a member's work, from the mildest to the worst


def all_or_raise(comm: Comm, attempt: Callable[[], T], kinds: Sequence[type[Exception]] = (UserError,)) -> T:
    """Return what this rank's attempt gives, or raise on all ranks what any of them raised. Collective.

    Args:
        kinds: the exceptions that are shared, from the mildest to the worst. All ranks raise the worst kind
            that any of them met, with the text of the first rank that met it.
    """
    if comm.size == 1:
        return attempt()
    outcome, text, value = 0, "", None  # 0: the attempt succeeded; n: it raised the n-th kind
    try:
        value = attempt()
    except tuple(kinds) as error:
        outcome = max(place for place, kind in enumerate(kinds, 1) if isinstance(error, kind))
        text = str(error)
    worst = int(share_rows(comm, np.array([[outcome]]), [1] * comm.size).max())
    if worst:
        texts = gather_objects(comm, text if outcome == worst else "") or []
        raise kinds[worst - 1](bcast_object(comm, next(filter(None, texts), "")))
    return cast(T, value)
