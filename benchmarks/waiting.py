"""What waiting ranks take from rank 0's work: ours, and MPI's own broadcast, side by side.

python benchmarks/waiting.py [--ranks 32] [--repeats 7]

Rank 0 computes for about half a second while the others wait for it. Seconds are those of the clock, since
what matters is whether rank 0 gets a core; so other load on the machine counts too.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mpi4py import MPI

from mpi_es.parallel.collectives import bcast

COMM = MPI.COMM_WORLD
LOOPS = 12_000_000  # of Python, about half a second


def work() -> float:
    """Return the seconds that the work takes."""
    begin, total = time.perf_counter(), 0
    for number in range(LOOPS):
        total += number
    return time.perf_counter() - begin


def beside(broadcast: Callable[[np.ndarray], None]) -> float:
    """Return the seconds that the work takes on rank 0 while the others wait in a broadcast. Collective."""
    array = np.zeros(1)
    COMM.Barrier()
    seconds = work() if COMM.rank == 0 else 0.0
    broadcast(array)
    return seconds


def main() -> None:
    """Measure, and print on rank 0; without a launcher, start one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    if options.ranks < 2:
        parser.error("--ranks: expected at least 2, since one alone waits for nobody")
    if COMM.size == 1:
        alone = min(work() for _ in range(options.repeats))
        print(f"alone {alone:.2f} s; beside {options.ranks - 1} ranks that wait:", flush=True)
        command = [
            str(Path(sys.prefix, "bin", "mpiexec")),
            "-n",
            str(options.ranks),
            sys.executable,
            *sys.argv,
        ]
        subprocess.run(command, check=True)
        return
    kinds = {"mpi_es": lambda array: bcast(COMM, array), "MPI's own": COMM.Bcast}
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(options.repeats):
        for name, broadcast in kinds.items():
            found[name].append(beside(broadcast))
    for name, seconds in found.items() if COMM.rank == 0 else ():
        print(f"{name:>10}: least {min(seconds):.2f} s, median {np.median(seconds):.2f} s")


if __name__ == "__main__":
    main()
