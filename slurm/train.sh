#!/usr/bin/env bash
# Train on a cluster: sbatch [options of sbatch] slurm/train.sh [PRESET] [options of mpi_es.train]
#SBATCH --job-name=mpi_es
#SBATCH --ntasks=32
#SBATCH --cpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append
set -euo pipefail

cd "${SLURM_SUBMIT_DIR:-.}"
# The mpiexec of the mpich wheel finds the allocation by itself, all nodes and tasks of it.
exec .venv/bin/mpiexec -n "${SLURM_NTASKS:-2}" .venv/bin/python -m mpi_es.train "$@"
