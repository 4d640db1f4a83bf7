#!/usr/bin/env bash
# Train the attention agent on CarRacing, the default of train.sh, as a job named carracing: sbatch [options of sbatch] slurm/carracing.sh [options of mpi_es.train]
#SBATCH --job-name=carracing
#SBATCH --ntasks=32
#SBATCH --cpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append

project=${MPI_ES_PROJECT:-${SLURM_SUBMIT_DIR:-$PWD}}
[[ -f $project/slurm/prologue.sh ]] || { echo "error: MPI_ES_PROJECT: expected the project, got $project" >&2 && exit 2; }
exec bash "$project/slurm/train.sh" "$@"
