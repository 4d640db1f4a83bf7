"""Saving members' states: gathered in rank 0's one file, as the suite does, against a file of each rank.

    python benchmarks/pbt_saving.py [--ranks 2 8 32] [--sizes 1e5 1.25e7] [--directory DIR]

Every rank holds one member. Files are saved as run.h5 is: a digest in front, and on the disk before they
get their name. With a file of each rank, rank 0 saves one more once all are there, for the run.
Seconds are the medians of some repeats on the slowest rank; the ratio is gathered over own files, above 1
where own files win.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from pbt_exchange import begin, on_ranks, slowest

from mpi_es.parallel.waiting import wait
from mpi_es.run_file import checkpoint
from pbt.packing import pack, unpack
from pbt.population.exchange import collect
from pbt.record import name_of

SIZES = (100_000, 1_000_000, 12_500_000, 50_000_000)  # bytes; those of LunarLander's and bigfish's between
RANKS = (2, 4, 8, 16)
MEMORY = 1_000_000_000  # bytes that all ranks' states may take together
REPEATS = 5


def gathered(comm, buffer, directory):
    states = collect(comm, {comm.rank: buffer}, range(comm.size), range(comm.size))
    if comm.rank == 0:
        members = {name_of(index): unpack(states[index]) for index in sorted(states)}
        checkpoint.save(directory, {"members": members})


def own_files(comm, buffer, directory):
    own = directory / str(comm.rank)
    own.mkdir(exist_ok=True)
    checkpoint.save(own, {"members": {name_of(comm.rank): unpack(buffer)}})
    wait(comm.Ibarrier())
    if comm.rank == 0:
        checkpoint.save(directory, {"members": {}})


def seconds(comm, way, buffer, directory):
    return np.median([slowest(comm, lambda: way(comm, buffer, directory)) for _ in range(REPEATS)])


def main(comm, arguments):
    directory = Path(arguments[0])
    for size in map(int, arguments[1:]):
        if size * comm.size > MEMORY:
            continue
        buffer = pack({"weights": np.random.default_rng(comm.rank).normal(size=size // 4).astype(np.float32)})
        taken = [seconds(comm, way, buffer, directory) for way in (gathered, own_files)]
        if comm.rank == 0:
            ratio = taken[0] / taken[1]
            print(f"{comm.size:5} {size:10,} {taken[0]:10.4f} {taken[1]:10.4f} {ratio:6.2f}", flush=True)
    return 0


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", nargs="+", type=int, default=RANKS)
    parser.add_argument("--sizes", nargs="+", type=float, default=SIZES)
    parser.add_argument("--directory", type=Path, help="on the file system to measure")
    options = parser.parse_args()
    titles = ("ranks", "bytes", "gathered", "own files", "ratio")
    print(" ".join(title.rjust(width) for title, width in zip(titles, (5, 10, 10, 10, 6), strict=True)))
    for ranks in options.ranks:
        with tempfile.TemporaryDirectory(dir=options.directory) as directory:
            on_ranks(ranks, __file__, directory, *map(int, options.sizes))


if __name__ == "__main__":
    begin(run, main)
