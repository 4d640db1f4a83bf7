#!/usr/bin/env bash
# Starts a rank with a numba cache for its type of CPU, since nodes may differ, and from the node's copy if there is one.
set -euo pipefail

kind=$({ grep -m 1 -E '^(flags|Features)' /proc/cpuinfo || uname -m; } | cksum | cut -d ' ' -f 1) # Features: ARM
export NUMBA_CACHE_DIR=${MPI_ES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mpi_es}/$kind
if [[ -n ${MPI_ES_COPY:-} ]]; then
    exec {used}<"$MPI_ES_COPY" && flock --shared "$used" # keeps the copy until this rank ends
    project=${0%/slurm/rank.sh} modules=$PWD
    [[ $1 == -m ]] || modules=$(dirname "$1")
    PATH=$MPI_ES_COPY/env/bin:$PATH
    PYTHONPATH=$MPI_ES_COPY/project${PYTHONPATH#"$project"}
    export PYTHONSAFEPATH=1 MPI_ES_PATH=$modules:$project # the copy looks there last
fi
exec python "$@"
