"""How ranks hear of what one of them met: all go on, or all raise the same."""

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import Comm, bcast_object, gather_objects, share_rows
from mpi_es.parallel.stop_signal import Stopped
from pbt.members.base import Diverged

T = TypeVar("T")
_RAN, _DIVERGED, _STOPPED, _FAILED = range(4)  # how a rank's part ended; the largest is everybody's


class MemberFailed(UserError):
    """A member that raised, with what there is to tell."""


def together(comm: Comm, work: Callable[[], T]) -> T:
    """Return what this rank's part gives, or raise on all ranks what one of them met. Collective."""
    if comm.size == 1:
        return work()
    outcome, told, value = _RAN, "", None
    try:
        value = work()
    except Diverged:
        outcome = _DIVERGED
    except Stopped:
        outcome = _STOPPED
    except MemberFailed as error:
        outcome, told = _FAILED, str(error)
    worst = share_rows(comm, np.array([[outcome]]), [1] * comm.size).max()
    if worst == _FAILED:
        texts = gather_objects(comm, told) or []
        raise MemberFailed(bcast_object(comm, next(filter(None, texts), "")))
    if worst == _STOPPED:
        raise Stopped
    if worst == _DIVERGED:
        raise Diverged
    return cast(T, value)
