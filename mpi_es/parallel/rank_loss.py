"""Losing a rank. Where the MPI has ULFM the others go on without it; elsewhere the launcher ends them all.

ULFM lets an operation fail in which a dead rank takes part, and lets a communicator be revoked, upon which
all that others do with it fails as well. Those who are left then agree on what to do and shrink it.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mpi_es.errors import OutOfStep, expected
from mpi_es.parallel.waiting import wait

Comm = Any  # an mpi4py communicator

# Words on what to do next; the ranks agree on their bits' conjunction, which is the least.
ANEW, ONWARD, END = 0b00, 0b01, 0b11
_FT = "OMPI_MCA_mpi_ft_enable"  # what Open MPI's mpiexec sets


class RankLost(OutOfStep):
    """A rank has died, and its communicator is of no more use."""


class BeginAnew(OutOfStep):
    """The ranks that are left cannot go on where they are: they are to begin anew, as a smaller world."""

    def __init__(self, comm: Comm) -> None:
        super().__init__()
        self.comm = comm


def survivable() -> bool:
    """Return whether the other ranks can outlive one: under `mpiexec --with-ft ulfm` of Open MPI."""
    return os.environ.get(_FT) == "1"


def apply_rank_loss_option(comm: Comm, option: str) -> tuple[bool, str]:
    """Return whether the other ranks go on when one dies, and that in words; empty on a rank that is alone.

    Where the job is to end, it is MPI that ends it.

    Args:
        option: auto, shrink or abort.
    """
    if comm.size == 1:
        return False, ""
    if option == "shrink" and not survivable():
        rule = "abort, since a lost rank ends the job here"
        raise expected("--on-rank-loss", rule, option, "start with mpiexec --with-ft ulfm of Open MPI")
    if option != "abort" and survivable():
        return True, "the other ranks continue if one dies"
    if survivable():
        from mpi4py import MPI  # there are other ranks, so this runs under MPI

        comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)
    return False, "a rank that dies ends the job"


def _is_death(error: Exception) -> bool:
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(error, mpi.Exception):
        return False
    return error.Get_error_class() in (mpi.ERR_PROC_FAILED, mpi.ERR_PROC_FAILED_PENDING, mpi.ERR_REVOKED)


@contextmanager
def losses(comm: Comm) -> Iterator[None]:
    """Raise RankLost where MPI reports a death, and let all ranks of the communicator know."""
    try:
        yield
    except RankLost:  # in a part of this communicator
        comm.Revoke()
        raise
    except Exception as error:
        if not _is_death(error):
            raise
        comm.Revoke()
        raise RankLost from error


def _agree(comm: Comm, word: int) -> int:
    """Return the least of the words of all ranks that are left. Collective over them."""
    while True:
        comm.Ack_failed()
        agreed = np.array([word], np.int32)
        try:
            wait(comm.Iagree(agreed))
            return int(agreed[0])
        except Exception as error:  # on all ranks alike: one died whose death was not acknowledged
            if not _is_death(error):
                raise


def shrink(comm: Comm, word: int) -> Comm:
    """Return a communicator of the ranks that are left, or raise BeginAnew with it. Collective over them.

    Where all are at their end, it is the old one.

    Args:
        word: END, ONWARD from a rank that can go on where it is if rank 0 lives, or else ANEW.
    """
    from mpi4py import MPI

    agreed = _agree(comm, word)
    if agreed == END:
        return comm
    left = comm.Shrink()
    (first,) = MPI.Group.Translate_ranks(left.Get_group(), [0], comm.Get_group())
    if agreed == ANEW or first != 0:
        raise BeginAnew(left)
    return left
