# shellcheck shell=bash
# The job scripts source this file. It sets up Python and its libraries, and defines
#   resume MODULE ARGUMENTS…    start or continue one run, then requeue or end the job
#   perform SCRIPT ARGUMENTS…   the same for a script that calls mpi_es.evolve, once or several times
#   launch ARGUMENTS…           python with these arguments, on all ranks
# docs/slurm.md describes the variables MPI_ES_….
set -euo pipefail

# Signals: USR1 comes before the time limit, TERM from scancel, preemption and requeueing. The traps come first, since
# a signal that comes before the traps ends the job.

caught='' # the last signal that asked this job to stop
signals=0 # the number of these signals
asks=USR1 # the signal with which the ranks are asked to save and stop
child=''  # the launcher's process, while it runs
asking='' # the process that repeats the signal to the launcher
trap 'on_signal SIGUSR1' USR1
trap 'on_signal SIGTERM' TERM

on_signal() {
    caught=$1
    signals=$((signals + 1))
    pass_on
}

pass_on() {
    # Every launcher passes the signal to the ranks, which then stop; but MPI may drop it while they start.
    if [[ -n $child && -n $caught && -z $asking ]]; then
        (while kill -s "$asks" "$child"; do sleep 5; done) >/dev/null 2>&1 &
        asking=$!
    fi
}

: "${project:?is set by the job}"

own_variables() {
    # sbatch passes its environment on: these variables may be those of another job, from which this one was submitted.
    local id task restarts
    unset PMI_FD PMI_RANK PMI_SIZE PMIX_NAMESPACE PMIX_RANK "${!SLURM_PTY_@}" SLURM_EXTERNAL_LAUNCHER # of srun --pty
    # After sbatch --export=NAMES srun would start ranks without what this script sets.
    export SLURM_EXPORT_ENV=ALL
    [[ -n ${SLURM_JOB_ID:-} && -n ${SLURM_ARRAY_JOB_ID:-}${SLURM_RESTART_COUNT:-} ]] || return 0
    while read -r id task restarts; do
        [[ $id == "$SLURM_JOB_ID" ]] || continue
        [[ $task != N/A ]] || unset "${!SLURM_ARRAY_@}"
        export SLURM_RESTART_COUNT=$restarts
    done < <(squeue --noheader --jobs "$SLURM_JOB_ID" --Format JobID:20,ArrayTaskID:20,RestartCnt:10 || true)
}

own_variables
# One task of an array; its SLURM_JOB_ID may be that of the whole array.
job=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
job=${job:-${SLURM_JOB_ID:-}}
run='' # directory of the run; for a script, of the runs without a directory of their own
launcher=()
cache=${MPI_ES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mpi_es}

say() { printf 'slurm: %s\n' "$*"; }

fail() { # [MESSAGE…]; without one, a program has told why
    # SIGTERM also ends the children of this script, which is not a mistake.
    [[ $caught != SIGTERM ]] || stopped_by_slurm
    [[ $# == 0 ]] || printf 'error: %s\n' "$*" >&2
    exit 2
}

# Python, its threads, and where the ranks find this project.

setup() {
    if [[ -n ${MPI_ES_SETUP:-} ]]; then
        set +eu # conda's scripts and modules fail under either
        eval "$MPI_ES_SETUP" || fail "MPI_ES_SETUP: expected a command that succeeds, got ${MPI_ES_SETUP@Q}"
        set -eu
    elif [[ -d $project/.venv ]]; then
        PATH=$project/.venv/bin:$PATH
    fi
    export PYTHONPATH=$project${PYTHONPATH:+:$PYTHONPATH}
    export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
    # Not `import mpi_es`, which imports no other package.
    python -c 'import mpi_es.train' ||
        fail "MPI_ES_SETUP: expected a python with mpi_es and its packages, got $(command -v python || echo none)"
    [[ ${MPI_ES_RETRIES:-3} =~ ^(0|[1-9][0-9]*)$ ]] || fail "MPI_ES_RETRIES: expected a whole number, got $MPI_ES_RETRIES"
}

# The launcher: the first that starts one world in which the doctor finds no failure.

choose_launcher() { # RUN_DIRECTORY; returns the code of a launcher that failed without a verdict of the doctor
    local lines line report='' code accident=''
    lines=${MPI_ES_LAUNCHER:-$(python -m mpi_es.jobs.launchers)} || return 1
    while IFS= read -r line; do
        [[ -n $line ]] || continue
        take_launcher "$line"
        code=0
        report=$(examine "$1") || code=$?
        if [[ $code == 0 || -n $caught ]]; then
            sed -n '/^warn/,/^ *->/p' <<<"$report" # the warnings and their fixes
            return 0
        fi
        say "not with $line"
        printf '%s\n' "$report"
        [[ $code == 1 ]] || accident=$code
    done <<<"$lines"
    [[ -z $accident ]] || return "$accident"
    fail "launcher: expected one with which the doctor finds no failure, got none; correct what it says above," \
        "or set another launcher in MPI_ES_LAUNCHER"
}

examine() { # RUN_DIRECTORY
    # A wrong launcher may hang; 32 ranks on two cores need 20 s. Launchers would read this script's input.
    timeout --kill-after=10 200 "${launcher[@]}" "$project/slurm/rank.sh" -m mpi_es.doctor "$1" </dev/null 2>&1
}

take_previous_launcher() {
    # After a requeue use the launcher that was chosen before: every program checks the world anyway.
    local line
    [[ ${SLURM_RESTART_COUNT:-0} != 0 ]] || return 1
    [[ ! -e $(job_file failures) ]] || return 1 # it may be what failed
    line=$(cat "$(job_file launcher)" 2>/dev/null) && [[ -n $line ]] && take_launcher "$line"
}

take_launcher() { # LINE
    eval "launcher=($1)"
    # Since Slurm 22.05 srun does not inherit the job's --cpus-per-task. An mpiexec, however, starts one helper for all
    # ranks of a node by srun, which this variable would bind to the cores of a single task.
    unset SRUN_CPUS_PER_TASK
    [[ ${launcher[0]##*/} != srun || -z ${SLURM_CPUS_PER_TASK:-} ]] || export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
}

store_launcher() {
    # If it cannot be stored, the next start chooses again.
    [[ -z $caught ]] || return 0
    rm -f "$run"/.launcher-* # of other jobs, most of them cancelled; one that runs only chooses again
    { mkdir -p "$run" && echo "${launcher[*]@Q}" >"$(job_file launcher)"; } 2>/dev/null || true
}

job_file() { printf '%s/.%s-%s' "$run" "$1" "$job"; } # WHAT

launch() { # ARGUMENTS… of python
    local signals_before code=0
    [[ -z $caught ]] || return 0
    "${launcher[@]}" "$project/slurm/rank.sh" "$@" &
    child=$!
    pass_on # a signal that came before the launcher ran
    while :; do
        signals_before=$signals code=0
        wait "$child" || code=$?
        [[ $signals == "$signals_before" ]] && break # otherwise a signal ended the wait
    done
    child=''
    [[ -z $asking ]] || kill "$asking" 2>/dev/null || true
    return "$code"
}

# Start or continue a run or a script, and decide what follows.

how_to_continue='the same command continues it'

resume() { # MODULE ARGUMENTS…
    local module=$1
    shift
    run=$(python -m mpi_es.jobs.where "$module" "$@") || fail
    [[ $run != -* ]] || run=./$run # not an option of the commands below
    runs() { printf '%s\n' "$run"; }
    # If ranks survive a dead one, the launcher fails although the run reaches its end. A file that has not been
    # written since may be that of a shorter run.
    written() { stat --format %y "$run/run.h5" 2>/dev/null || true; }
    finished() { # CODE
        [[ $1:$caught == 0: || $(written) != "$written_before" ]] && python -m mpi_es.status --finished "$run"
    }
    start_and_decide -m "$module" --continue "$@"
}

perform() { # SCRIPT ARGUMENTS…
    [[ -f ${1:-} ]] || fail "SCRIPT: expected a Python script as the first argument, got ${1:-nothing}"
    local name=${1##*/}
    run=runs/${name%.py}-${job:-$$}
    mkdir -p "$run" || fail "runs: expected a directory in which this job can write"
    export MPI_ES_RUNS=$PWD/$run
    how_to_continue='the same command continues the runs whose run_dir the script names'
    runs() { sort --unique "$run/.runs" 2>/dev/null || true; }
    written() { :; }
    # The script may have ended by os._exit(0) in the middle of a run.
    finished() { [[ $1 == 0 && -z $caught ]] && ! any_state_matches 'stopped by .*; to be continued|running (or killed )?on '; } # CODE
    start_and_decide "$@"
}

start_and_decide() { # ARGUMENTS… of python
    local code=0 generations_before written_before
    copy_to_nodes
    take_previous_launcher || choose_launcher "$run" || retry_or_give_up $?
    store_launcher
    await_previous_ranks
    generations_before=$(generations) || generations_before=unknown
    written_before=$(written)
    launch "$@" || code=$?
    if finished "$code"; then
        rm -f "$(job_file failures)" "$(job_file launcher)" "$run/.runs"
        say "finished: $run"
        exit 0
    fi
    if [[ $code == 0 && -z $caught ]] && ! stopped; then retry_or_give_up 0; fi
    case $code:$caught in
        *:SIGTERM) stopped_by_slurm ;;
        0:*) stopped_by_signal "$generations_before" saved ;;
        2:*) say "ended by the error above; correct it, then $how_to_continue: $run" && exit 2 ;;
        *:SIGUSR1) stopped_by_signal "$generations_before" "code $code" ;;
        *) retry_or_give_up "$code" ;;
    esac
}

await_previous_ranks() {
    # When Slurm loses contact with a node, it starts the job again on others, while ranks on that node may still run
    # and hold the lock of the run, until Slurm ends them. If another job holds it, the program says so.
    local announced=''
    while [[ ${SLURM_RESTART_COUNT:-0} != 0 && -z $caught ]]; do
        locked || return 0
        [[ -n $announced ]] || say "waiting: ranks of this job still run on a node that Slurm has lost contact with"
        announced=yes
        sleep 5 || true # SIGTERM ends it
    done
}

locked() {
    local directory code
    while IFS= read -r directory; do
        code=0
        flock --shared --nonblock --conflict-exit-code 75 "$directory/.lock" true 2>/dev/null || code=$?
        [[ $code != 75 ]] || ! grep -qx ".*, Slurm job ${SLURM_JOB_ID:-}" "$directory/.lock" || return 0
    done < <(runs)
    return 1
}

stopped() {
    # The launcher also exits with 0 if a rank exits early with 0.
    any_state_matches 'stopped by .*; to be continued'
}

any_state_matches() { # PATTERN of the states of the runs
    local directories
    mapfile -t directories < <(runs)
    # status fails if one of the script's runs was never saved.
    { python -m mpi_es.status "${directories[@]}" 2>/dev/null || true; } | grep -E "$1" >/dev/null
}

stopped_by_slurm() {
    say "ended by scancel, preemption or a node that goes down: ${run:-its run} holds the last complete generation;" \
        "if Slurm does not start this job again by itself, $how_to_continue"
    exit 143
}

generations() { # prints the number of generations done
    local directories
    mapfile -t directories < <(runs)
    if ((${#directories[@]} == 0)); then echo 0; else python -m mpi_es.status --generations "${directories[@]}"; fi
}

stopped_by_signal() { # GENERATIONS_BEFORE HOW
    local by=${caught:-a signal}
    # Otherwise a generation that does not fit into the time limit would be repeated for ever.
    [[ $(generations) != "$1" ]] ||
        retry_or_give_up 0 "stopped by $by before a generation was done; if the job needs more time, give it --time"
    rm -f "$(job_file failures)"
    requeue "stopped by $by, $2: $run"
}

retry_or_give_up() { # CODE [REASON]
    local file count most=${MPI_ES_RETRIES:-3} reason=${2:-the launcher ended with code $1}
    file=$(job_file failures)
    # Without a stored count the job would fail for ever.
    mkdir -p "$run" && echo "code $1, $(date)" >>"$file" || most=0
    count=$(wc -l <"$file" || echo 1)
    if [[ -n $job ]] && ((count <= most)); then
        requeue "$reason (failure $count, $most are tried again)"
    fi
    say "gave up after failure $count with code $1: ${2:-see above}; then $how_to_continue: $run"
    exit $(($1 > 0 ? $1 : 1))
}

requeue() { # REASON
    if [[ -z $job ]]; then
        say "$1; $how_to_continue"
        exit 0
    fi
    still_ours || stopped_by_slurm
    say "$1; requeued"
    remove_copies
    scontrol requeue "$job" || fail "Slurm does not requeue job $job; $how_to_continue"
    sleep 600 & # Slurm ends this script by SIGTERM
    wait || true
    exit 0
}

still_ours() {
    # Do not requeue a job that Slurm is ending, nor one that it has restarted on other nodes since it lost contact
    # with this one.
    local seen='' state restarts tries
    for ((tries = 0; tries < 60; tries++)); do
        if seen=$(squeue --noheader --jobs "$job" --Format State:20,RestartCnt:10); then break; fi
        sleep 10 # seconds: Slurm's controller restarts, or is busy
    done
    read -r state restarts <<<"$seen"
    [[ $state == RUNNING && $restarts == "${SLURM_RESTART_COUNT:-0}" ]]
}

# shellcheck source=slurm/local.sh
source "$project/slurm/local.sh"
setup
