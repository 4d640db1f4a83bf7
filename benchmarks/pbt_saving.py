"""Saving members' states: gathered in rank 0's one file, as the suite does, against a file of each rank.

    python benchmarks/pbt_saving.py [--ranks 2 8 32] [--sizes 1e5 1.25e7] [--directory DIR]

Every rank holds one member. Files are saved as run.h5 is: a digest in front, and on the disk before they
get their name. With a file of each rank, rank 0 saves another one, which names them, once all are there.
Seconds are the medians of some repeats on the slowest rank; the ratio is gathered over own files, above 1
where own files win.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from mpi_es import checkpoint
from mpi_es.comm import share_rows
from mpi_es.program import launch
from mpi_es.waiting import wait
from pbt.exchange import collect
from pbt.log import name_of
from pbt.states import pack, unpack

ROOT = Path(__file__).parents[1]
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
    taken = []
    for _ in range(REPEATS):
        wait(comm.Ibarrier())
        begin = time.perf_counter()
        way(comm, buffer, directory)
        here = np.array([[time.perf_counter() - begin]])
        taken.append(share_rows(comm, here, [1] * comm.size).max())
    return np.median(taken)


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
    mpiexec = Path(sys.prefix, "bin", "mpiexec")
    for ranks in options.ranks:
        sizes = [str(int(size)) for size in options.sizes]
        with tempfile.TemporaryDirectory(dir=options.directory) as directory:
            command = [mpiexec, "-n", str(ranks), sys.executable, __file__, "under-mpi", directory, *sizes]
            subprocess.run(command, check=True, cwd=ROOT)


if __name__ == "__main__":
    if sys.argv[1:2] == ["under-mpi"]:
        del sys.argv[1]
        launch(main)
    run()
