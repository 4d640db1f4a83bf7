# shellcheck shell=bash
# prologue.sh sources this file. With MPI_ES_LOCAL ranks start from a copy of Python, its packages and this project on
# their node's disk: otherwise each asks the shared file system for some 4,000 files.

: "${project:?is set by the job}" "${cache:?is set by prologue.sh}"
keeping='' # the process of the step that keeps the copies

copy_to_nodes() {
    local packed copy tar node ready
    [[ -n ${MPI_ES_LOCAL:-} ]] || return 0
    [[ -n $job ]] || fail "MPI_ES_LOCAL: expected a job of Slurm, got none"
    packed=$(python -m mpi_es.jobs.pack "$cache" "$MPI_ES_LOCAL") || fail
    copy=$MPI_ES_LOCAL/$(basename "$packed" .tar)
    tar=$copy-$job-${SLURM_RESTART_COUNT:-0}.tar
    sbcast "$packed" "$tar" || no_copy
    coproc keeper {
        exec srun --overlap --mpi=none --kill-on-bad-exit --cpus-per-task=1 --ntasks-per-node=1 \
            --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" "$project/slurm/keep.sh" "$copy" "$tar"
    }
    keeping=$!
    ready=${keeper[0]:-} # bash unsets keeper when the step ends
    trap remove_copies EXIT
    for ((node = 0; node < SLURM_JOB_NUM_NODES; node++)); do
        read -r <&"$ready" 2>/dev/null || no_copy # a node has its copy
    done
    export MPI_ES_COPY=$copy
}

no_copy() {
    fail "MPI_ES_LOCAL: expected a directory on the local disk of each node, with room for twice the environment," \
        "got $MPI_ES_LOCAL"
}

remove_copies() {
    local input=${keeper[1]:-}
    [[ -n $keeping ]] || return 0
    [[ -z $input ]] || exec {input}>&- # the step ends with its input
    wait "$keeping" || true
    keeping=''
}
