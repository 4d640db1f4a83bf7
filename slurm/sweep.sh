#!/usr/bin/env bash
# One run per array task, and a summary when all tasks have ended:
#   sbatch --array=0-9 [options of sbatch] slurm/sweep.sh DIRECTORY [PRESET] [options of mpi_es.train]
#   sbatch --array=1-6 [options of sbatch] slurm/sweep.sh DIRECTORY --table FILE [PRESET] [options of mpi_es.train]
# The number of a task is its seed, or its line of options in FILE.
#SBATCH --job-name=sweep
#SBATCH --ntasks=32
#SBATCH --cpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --array=0-4
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --output=%x-%A_%a.log
#SBATCH --open-mode=append

project=${MPI_ES_PROJECT:-${SLURM_SUBMIT_DIR:-$PWD}}
[[ -f $project/slurm/prologue.sh ]] || { echo "error: MPI_ES_PROJECT: expected the project, got $project" >&2 && exit 2; }
# shellcheck source=slurm/prologue.sh
source "$project/slurm/prologue.sh"

[[ -n ${1:-} && ${1:-} != -* ]] || fail "sweep.sh: expected the directory of the sweep first, got ${1:-nothing}"
[[ -n ${SLURM_ARRAY_TASK_ID:-} ]] || fail "sweep.sh: expected a task of an array, got none; use sbatch --array"
sweep=$1 task=$SLURM_ARRAY_TASK_ID
shift
run=$sweep/seed-$task
[[ ${1:-} != --table ]] || run=$sweep/$task
mkdir -p "$run" # the summary lists it, even if its options are refused

if [[ ${1:-} == --table ]]; then
    # Skip empty lines and lines that begin with #; lines may end as on Windows.
    ((task > 0)) || fail "--table: expected tasks from 1, as lines are counted, got 0; use sbatch --array=1-N"
    [[ -f ${2:-} ]] || fail "--table: expected a file with a line of options for each task, got ${2:-nothing}"
    row=$(sed -e 's/\r$//' -e '/^[[:space:]]*#/d' -e '/^[[:space:]]*$/d' -- "$2" | sed -n "${task}p")
    [[ -n $row ]] || fail "--table: expected a line of options number $task in $2, got none"
    shift 2
    set -f # a * in a line stays one
    (eval "options=($row)") || fail "--table: expected words as in bash in line $task, got $row"
    eval "options=($row)"
    set +f
else
    options=(--seed "$task")
fi

# The first task submits the summary.
if mkdir "$sweep/.summary-$SLURM_ARRAY_JOB_ID" 2>/dev/null; then
    if number=$(MPI_ES_PROJECT=$project sbatch --parsable --dependency="afterany:$SLURM_ARRAY_JOB_ID" \
        --account="${SLURM_JOB_ACCOUNT:-}" --partition="$SLURM_JOB_PARTITION" \
        ${SLURM_JOB_QOS:+--qos="$SLURM_JOB_QOS"} \
        "$project/slurm/summary.sh" "$sweep"); then
        say "summary in $sweep by job $number when all tasks have ended"
    else
        rmdir "$sweep/.summary-$SLURM_ARRAY_JOB_ID" # the next task tries again
        say "the summary could not be submitted; when all tasks have ended: slurm/summary.sh $sweep"
    fi
fi

resume mpi_es.train "$@" "${options[@]}" --run-dir "$run"
