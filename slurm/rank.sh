#!/usr/bin/env bash
# Starts a rank with a numba cache for its type of CPU, since nodes may differ.
set -euo pipefail

kind=$({ grep -m 1 -E '^(flags|Features)' /proc/cpuinfo || uname -m; } | cksum | cut -d ' ' -f 1) # Features: ARM
export NUMBA_CACHE_DIR=${MPI_ES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mpi_es}/$kind
exec python "$@"
