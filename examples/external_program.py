"""Evolve the parameters of an external MPI program: each call writes its input, runs it and reads its output.

It needs an mpiexec (pip install 'mpi_es[mpich]'). From this folder, in one process or on all ranks of a job:

    python external_program.py
    mpiexec -n 3 python external_program.py
"""

import os
import subprocess
import sys

import mpi_es

SOLVER = """
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
numbers = [float(line) for line in open("input.txt")]
mine = numbers[comm.rank :: comm.size]  # each rank has a part of the sum
energy = comm.allreduce(sum((number - 1) ** 2 for number in mine))
if comm.rank == 0:
    print("energy", repr(energy))
"""
COMMAND = ["mpiexec", "-n", "2", sys.executable, "-c", SOLVER]
# With these variables set, the program would act as a rank of the job that runs this script.
OF_LAUNCHERS = ("PMI_", "PMIX_", "OMPI_COMM_WORLD_", "HYDI_", "MPI_LOCAL", "PRTE_")


def energy(x, directory):
    """Return the energy that the program prints. The directory is removed unless the call fails."""
    (directory / "input.txt").write_text("".join(f"{number!r}\n" for number in x.tolist()))
    environ = {name: value for name, value in os.environ.items() if not name.startswith(OF_LAUNCHERS)}
    with (directory / "output.txt").open("w") as output:
        subprocess.run(COMMAND, cwd=directory, env=environ, stdout=output, stderr=output, check=True)
    lines = (directory / "output.txt").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("energy ")))


def main():
    options = {"population_size": 6, "max_iter": 4, "call_timeout": 300, "on_failure": "worst"}
    result = mpi_es.minimise(energy, [0.0] * 4, sigma=0.3, console="silent", **options)
    if mpi_es.rank() == 0:
        print(f"energy {result.value:.4f} at {result.x.round(2)}")
        print(f"{result.evaluations} evaluations, saved in {result.run_dir}")


if __name__ == "__main__":
    main()
