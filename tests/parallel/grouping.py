"""Run under mpiexec: groups of SIZE ranks, from rank FIRST on, add numbers; print what each rank came to."""

from mpi_es.parallel.collectives import gather_objects
from mpi_es.parallel.entry_point import launch
from mpi_es.parallel.rank_groups import Failure, RankGroups, Work

NUMBERS = (1, -10, 2, -20)  # of a negative one the leader fails, or all ranks where it is the last


def attempt(comm, work):
    """Return on the leader the sum of a number on all ranks; where it fails, the others have sent theirs."""
    if work.arguments == -20 or (work.arguments == -10 and comm.rank == 0):
        return None, Failure(f"no {work.arguments}")
    if comm.rank:
        return comm.send(work.arguments, dest=0), None
    return work.arguments + sum(comm.recv(source=rank) for rank in range(1, comm.size)), None


def main(comm, arguments):
    size, first = map(int, arguments)
    groups, outcome = RankGroups(size), "idle"
    leaders = groups.divide(comm, first)
    if groups.group and leaders is None:
        groups.help(attempt, str)
        outcome = "helps"
    with groups.led():
        if groups.group and leaders is not None:
            outcome = [groups.group.lead(Work("", number), attempt) for number in NUMBERS]
            outcome = [value or failure.text for value, failure in outcome]
    outcomes = gather_objects(comm, outcome)
    groups.free()
    if comm.rank == 0:
        print(*outcomes, sep="\n")
    return 0


if __name__ == "__main__":
    launch(main)
