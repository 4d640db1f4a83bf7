#!/usr/bin/env bash
# Train a preset, --env or --function; without any, the attention agent on CarRacing: sbatch [options of sbatch] slurm/train.sh [PRESET] [options of mpi_es.train]
#SBATCH --job-name=train
#SBATCH --ntasks=32
#SBATCH --cpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append

project=${MPI_ES_PROJECT:-${SLURM_SUBMIT_DIR:-$PWD}}
[[ -f $project/slurm/prologue.sh ]] || { echo "error: MPI_ES_PROJECT: expected the project, got $project" >&2 && exit 2; }
# shellcheck source=slurm/prologue.sh
source "$project/slurm/prologue.sh"

resume mpi_es.train "$@"
