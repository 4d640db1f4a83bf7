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

[[ -d ${1:-} ]] || fail "summary.sh: expected the directory of a sweep, got ${1:-nothing}"
sweep=$1
python -m mpi_es.status "$sweep"/*/ 2>&1 | tee "$sweep/summary.txt" || true # it fails if a task has no run
python -m mpi_es.report "$sweep"/*/ --out "$sweep"
