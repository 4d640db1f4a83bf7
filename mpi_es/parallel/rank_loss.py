"""Losing a rank. If MPI has ULFM, the others continue without it; otherwise the launcher ends them all.

With ULFM, an operation that involves a dead rank fails, and a communicator can be revoked, after which all
operations of other ranks on it fail as well. The remaining ranks then agree on what to do, and shrink it.
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

# What to do next. The ranks agree on the bitwise AND of their words, which is the least of them.
ANEW, ONWARD, END = 0b00, 0b01, 0b11
_FT = "OMPI_MCA_mpi_ft_enable"  # set by Open MPI's mpiexec


class RankLost(OutOfStep):
    """A rank has died, and its communicator is unusable."""


class BeginAnew(OutOfStep):
    """The remaining ranks cannot continue where they are: they must begin anew, in a smaller world."""

    def __init__(self, comm: Comm) -> None:
        super().__init__()
        self.comm = comm


def survivable() -> bool:
    """Return whether the other ranks can outlive one: under `mpiexec --with-ft ulfm` of Open MPI."""
    return os.environ.get(_FT) == "1"


def apply_rank_loss_option(comm: Comm, option: str) -> tuple[bool, str]:
    """Return whether the other ranks continue when one dies, also in words; empty for a single rank.

    If the job is to end, MPI ends it.

    Args:
        option: auto, shrink or abort.
    """
    if comm.size == 1:
        return False, ""
    if option == "shrink" and not survivable():
        rule = "abort, since a lost rank ends the job here"
        raise expected("--on-rank-loss", rule, option, "start with mpiexec --with-ft ulfm of Open MPI")
    survives = option != "abort" and survivable()
    if survivable():
        from mpi4py import MPI  # there are other ranks, so this runs under MPI

        comm.Set_errhandler(MPI.ERRORS_RETURN if survives else MPI.ERRORS_ARE_FATAL)
    return survives, "the other ranks continue if one dies" if survives else "a rank that dies ends the job"


def _is_death(error: Exception) -> bool:
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(error, mpi.Exception):
        return False
    return error.Get_error_class() in (mpi.ERR_PROC_FAILED, mpi.ERR_PROC_FAILED_PENDING, mpi.ERR_REVOKED)


@contextmanager
def losses(comm: Comm) -> Iterator[None]:
    """Raise RankLost if MPI reports a death, and revoke the communicator, so that all its ranks notice."""
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
    """Return the least of the remaining ranks' words. Collective over them."""
    while True:
        comm.Ack_failed()
        agreed = np.array([word], np.int32)
        try:
            wait(comm.Iagree(agreed))
            return int(agreed[0])
        except Exception as error:  # on all ranks: a rank died, and its death is not acknowledged yet
            if not _is_death(error):
                raise


def shrink(comm: Comm, word: int) -> Comm:
    """Return a communicator of the remaining ranks, or raise BeginAnew with it. Collective over them.

    If all of them are at their end, it is the old one.

    Args:
        word: END; ONWARD from a rank that can continue where it is if rank 0 lives; otherwise ANEW.
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
