#!/usr/bin/env bash
# Runs once on each node: unpacks the copy from which ranks start, and removes it when no job uses it any more.
set -euo pipefail
copy=$1 tar=$2
patience=0 # seconds to wait at the end for ranks that save

finish() {
    rm -f "$tar"
    if flock --timeout "$patience" "$held"; then rm -rf "$copy"; fi
}

# Remove what killed jobs left.
find "${copy%/*}" -maxdepth 1 -user "$UID" -name "mpi_es-$UID-*.tar" -mmin +60 -ignore_readdir_race -delete || true
for other in "${copy%/*}/mpi_es-$UID"-*/; do
    [[ $other == "$copy/" || ! -d $other ]] || flock --nonblock "$other" rm -rf "$other" || true
done

umask 077
# Whoever uses the copy holds a shared lock; a job that ends may remove it before this one has its lock.
until [[ -n ${held:-} && $copy -ef /dev/fd/$held ]]; do
    mkdir -p "$copy"
    [[ -O $copy ]] || { echo "error: $copy: expected a directory of yours, got another user's" >&2 && exit 1; }
    exec {held}<"$copy"
    flock --shared "$held"
done
trap finish EXIT
trap 'patience=20; exit' TERM

exec {unpacking}>"$copy/lock"
flock "$unpacking"
if [[ ! -e $copy/complete ]]; then
    tar -xf "$tar" --no-same-owner -C "$copy"
    touch "$copy/complete"
fi
exec {unpacking}>&-
rm "$tar"
echo ready
read -r || true # until the job's script ends, or Slurm ends the job
