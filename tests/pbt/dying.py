"""Run under mpiexec: pbt.train, of which one rank kills itself at a chosen place of a generation.

Arguments: owner, name and number of the call that it does not survive, rank, generation; then pbt.train's.
"""

import os
import pkgutil
import signal

from mpi_es.parallel.entry_point import launch
from pbt import train
from pbt.run import Run


def arrange(owner, name, number, generation):
    """Let the `number`th call of owner.name in that generation be this process's last."""
    whole, generations, calls = getattr(owner, name), [], []
    begin = Run.train

    def noted(run, now):
        generations.append(now)
        return begin(run, now)

    def dying(*arguments, **options):
        if generations[-1:] == [generation]:
            calls.append(name)
            if len(calls) == number:
                os.kill(os.getpid(), signal.SIGKILL)
        return whole(*arguments, **options)

    Run.train = noted
    setattr(owner, name, dying)


def main(comm, arguments):
    owner, name, number, rank, generation, *rest = arguments
    if comm.rank == int(rank):
        arrange(pkgutil.resolve_name(owner), name, int(number), int(generation))
    return train.main(comm, rest)


if __name__ == "__main__":
    launch(main)
