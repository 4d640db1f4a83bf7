"""Run under mpiexec: the attempts of the ranks end as each argument says; print what all ranks then have."""

from functools import partial

from mpi_es.parallel.collective_errors import all_or_raise
from mpi_es.parallel.collectives import gather_objects
from mpi_es.parallel.entry_point import launch
from mpi_es.parallel.stop_signal import Stopped
from pbt import Diverged
from pbt.population.population import ENDINGS, MemberFailed

KINDS = {"diverged": Diverged, "stopped": Stopped, "failed": MemberFailed}


def raising(ending, rank):
    """Return the rank, or raise the named exception with it as the text."""
    if ending in KINDS:
        raise KINDS[ending](str(rank))
    return rank


def main(comm, arguments):
    for endings in arguments:
        attempt = partial(raising, endings.split()[comm.rank], comm.rank)
        try:
            outcome = str(all_or_raise(comm, attempt, ENDINGS))
        except ENDINGS as error:
            outcome = f"{type(error).__name__}: {error}"
        outcomes = gather_objects(comm, outcome)
        if comm.rank == 0:
            print(*dict.fromkeys(outcomes), sep=", ")
    return 0


if __name__ == "__main__":
    launch(main)
