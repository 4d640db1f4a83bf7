# shellcheck shell=bash
# What the jobs here share. It is sourced by them, sets Python and its libraries up, and has the functions
#   resume MODULE ARGUMENTS…   one run: begin or continue it, and decide what comes after
#   launch MODULE ARGUMENTS…   a program on all ranks
# README.md tells of the variables MPI_ES_….
set -euo pipefail

: "${project:?is set by the job}"

job=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
job=${job:-${SLURM_JOB_ID:-}}
caught='' # the last signal that asked this job to stop
signals=0 # how many did
child=''  # the launcher's process, while there is one
launcher=()

say() { printf 'slurm: %s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 2
}

# Python, its threads, and where the ranks find this project.

setup() {
    if [[ -n ${MPI_ES_SETUP:-} ]]; then
        set +eu # conda's scripts and modules survive neither
        eval "$MPI_ES_SETUP" || fail "MPI_ES_SETUP: expected a command that succeeds, got ${MPI_ES_SETUP@Q}"
        set -eu
    elif [[ -d $project/.venv ]]; then
        PATH=$project/.venv/bin:$PATH
    fi
    export PYTHONPATH=$project${PYTHONPATH:+:$PYTHONPATH}
    export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
    python -c 'import mpi_es' || fail "MPI_ES_SETUP: expected a python with mpi_es, got $(command -v python || echo none)"
}

# The launcher: the first that brings up one world in which the doctor finds nothing wrong.

choose_launcher() { # RUN_DIRECTORY
    local lines line report=''
    lines=${MPI_ES_LAUNCHER:-$(python -m mpi_es.launchers)}
    while IFS= read -r line; do
        eval "launcher=($line)"
        # On its own nodes this job was examined before; the world is checked by every program anyway.
        [[ ${SLURM_RESTART_COUNT:-0} == 0 ]] || return 0
        report=$(examine "$1") && return 0
        [[ -n $caught ]] && return 0
        say "not with $line"
        printf '%s\n' "$report"
    done <<<"$lines"
    fail "MPI_ES_LAUNCHER: expected a launcher with which the doctor finds nothing wrong, got none"
}

examine() { # RUN_DIRECTORY
    # A launcher that does not fit may hang; 32 ranks on two cores need 20 s.
    timeout --kill-after=10 200 "${launcher[@]}" "$project/slurm/rank.sh" -m mpi_es.doctor "$1" 2>&1
}

# Signals: the first comes before the time limit, the other from scancel, preemption and requeueing.

trap 'note SIGUSR1' USR1
trap 'note SIGTERM' TERM

note() {
    caught=$1
    signals=$((signals + 1))
    # Every launcher passes USR1 on, and to the ranks it means the same.
    if [[ -n $child ]]; then kill -USR1 "$child" 2>/dev/null || true; fi
}

launch() { # MODULE ARGUMENTS…
    local before code=0
    [[ -z $caught ]] || return 0
    "${launcher[@]}" "$project/slurm/rank.sh" -m "$@" &
    child=$!
    while :; do
        before=$signals code=0
        wait "$child" || code=$?
        [[ $signals == "$before" ]] && break # else it was a signal that ended the wait
    done
    child=''
    return "$code"
}

# One run: begin or continue it, and decide what comes after.

resume() { # MODULE ARGUMENTS…
    local module=$1 code=0
    shift
    run=$(python -m mpi_es.where "$module" "$@") || exit 2
    choose_launcher "$run"
    launch "$module" --continue "$@" || code=$?
    if python -m mpi_es.status --finished "$run"; then
        rm -f "$(failures)"
        say "finished: $run"
        exit 0
    fi
    case $code:$caught in
        *:SIGTERM) stopped_by_slurm ;;
        0:*) rm -f "$(failures)" && requeue "stopped by ${caught:-a signal}, saved: $run" ;;
        2:*) say "ended by what the line above tells; mend it and submit the same command again: $run" && exit 2 ;;
        *) again_after_failure "$code" ;;
    esac
}

failures() { printf '%s/.failures-%s' "$run" "$job"; }

stopped_by_slurm() {
    say "ended by scancel, preemption or a node that goes down: $run holds the last whole generation;" \
        "if Slurm does not start this job again by itself, submit the same command"
    exit 143
}

again_after_failure() { # CODE
    local file count most=${MPI_ES_RETRIES:-3}
    file=$(failures)
    # Where that cannot be noted, it cannot be counted, and the job would fail for ever.
    mkdir -p "$run" && echo "code $1, $(date)" >>"$file" || most=0
    count=$(wc -l <"$file" || echo 1)
    if ((count <= most)); then
        requeue "the launcher ended with code $1 (failure $count, $most are tried again)"
    fi
    say "gave up after failure $count with code $1: see above; then the same command continues $run"
    exit "$1"
}

requeue() { # REASON
    # A job that Slurm is ending already must not come back.
    if [[ -z ${SLURM_JOB_ID:-} ]]; then
        say "$1; the same command continues it"
        exit 0
    fi
    [[ $(squeue --noheader --jobs "$SLURM_JOB_ID" --format %T) == RUNNING ]] || stopped_by_slurm
    say "$1; requeued"
    scontrol requeue "$SLURM_JOB_ID" || fail "Slurm does not requeue job $job; submit the same command to continue"
    sleep 600 & # Slurm ends this script by SIGTERM
    wait || true
    exit 0
}

setup
