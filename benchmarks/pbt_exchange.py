"""Exchange of members' states: broadcasts against point to point, over ranks, sizes and selections.

    python benchmarks/pbt_exchange.py [--ranks 2 8 32] [--sizes 1e4 1e6]

Under each selection every rank holds one member. Seconds are the quickest of some repeats on the slowest
rank; the ratio is point to point over broadcasts, above 1 where broadcasts win.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from mpi_es.parallel.collectives import share_rows
from mpi_es.parallel.program import launch
from mpi_es.parallel.waiting import wait
from pbt.population.exchange import exchange
from pbt.selection import select

ROOT = Path(__file__).parents[1]
SIZES = (10_000, 1_000_000, 10_000_000, 50_000_000)  # bytes
RANKS = (2, 4, 8, 16, 32)
SELECTIONS = ("winner-takes-all", "truncation")
MEMORY = 2_000_000_000  # bytes that all ranks' states may take together


def seconds(comm, buffers, source, mode, repeats):
    owners = list(range(comm.size))
    quickest = np.inf
    for _ in range(repeats):
        quickest = min(quickest, slowest(comm, lambda: exchange(comm, buffers, source, owners, mode)))
    return quickest


def slowest(comm, work):
    """Return the seconds that work takes on the slowest rank. Collective."""
    wait(comm.Ibarrier())
    begin = time.perf_counter()
    work()
    return share_rows(comm, np.array([[time.perf_counter() - begin]]), [1] * comm.size).max()


def main(comm, arguments):
    for size in map(int, arguments):
        if size * comm.size * 2 > MEMORY:
            continue
        buffers = {comm.rank: np.full(size, comm.rank, np.uint8)}
        repeats = max(3, min(30, 20_000_000 // size))
        for selection in SELECTIONS:
            scores = np.arange(comm.size, dtype=float)
            source = select(selection, scores, np.random.default_rng(1), 0.25).tolist()
            modes = ("collective", "point-to-point")
            taken = [seconds(comm, buffers, source, mode, repeats) for mode in modes]
            if comm.rank == 0:
                row = f"{comm.size:5} {size:10,} {selection:>16} {taken[0]:10.5f} {taken[1]:14.5f}"
                print(row, f"{taken[1] / taken[0]:6.2f}", flush=True)
    return 0


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", nargs="+", type=int, default=RANKS)
    parser.add_argument("--sizes", nargs="+", type=float, default=SIZES)
    options = parser.parse_args()
    titles = ("ranks", "bytes", "selection", "broadcasts", "point to point", "ratio")
    print(" ".join(title.rjust(width) for title, width in zip(titles, (5, 10, 16, 10, 14, 6), strict=True)))
    for ranks in options.ranks:
        on_ranks(ranks, __file__, *map(int, options.sizes))


def on_ranks(ranks, script, *words):
    """Run a script's `main` on so many ranks."""
    mpiexec = Path(sys.prefix, "bin", "mpiexec")
    command = [mpiexec, "-n", ranks, sys.executable, script, "under-mpi", *words]
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT)


def begin(run, main):
    """Do what a script does by itself, or its `main` where it is one of the ranks."""
    if sys.argv[1:2] == ["under-mpi"]:
        del sys.argv[1]
        launch(main)
    run()


if __name__ == "__main__":
    begin(run, main)
