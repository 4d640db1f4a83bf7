#!/usr/bin/env bash
# Evaluate the policy of a run: sbatch [options of sbatch] slurm/evaluate.sh RUN [options of mpi_es.evaluate]
#SBATCH --job-name=evaluate
#SBATCH --ntasks=32
#SBATCH --cpus-per-task=1
#SBATCH --time=1:00:00
#SBATCH --requeue
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append

project=${MPI_ES_PROJECT:-${SLURM_SUBMIT_DIR:-$PWD}}
[[ -f $project/slurm/prologue.sh ]] || { echo "error: MPI_ES_PROJECT: expected the project, got $project" >&2 && exit 2; }
# shellcheck source=slurm/prologue.sh
source "$project/slurm/prologue.sh"

copy_to_nodes
choose_launcher .
[[ -z $caught ]] || { say "stopped by $caught before the evaluation began" && exit 143; }
asks=TERM # an evaluation has nothing to save, and MPI drops USR1
launch -m mpi_es.evaluate "$@"
