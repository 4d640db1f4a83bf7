#!/usr/bin/env bash
# Summarise the runs of a sweep and draw their report: sbatch [options of sbatch] slurm/summary.sh DIRECTORY
#SBATCH --job-name=summary
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --time=0:30:00
#SBATCH --output=%x-%j.log

project=${MPI_ES_PROJECT:-${SLURM_SUBMIT_DIR:-$PWD}}
[[ -f $project/slurm/prologue.sh ]] || { echo "error: MPI_ES_PROJECT: expected the project, got $project" >&2 && exit 2; }
# shellcheck source=slurm/prologue.sh
source "$project/slurm/prologue.sh"

sweep=${1:?expected the directory of the sweep}
python -m mpi_es.status "$sweep"/*/ 2>&1 | tee "$sweep/summary.txt" || true # also reports tasks without a run
python -m mpi_es.report "$sweep"/*/ --out "$sweep"
