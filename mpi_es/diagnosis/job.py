"""The doctor's checks of a job: ranks, cores, Slurm, libraries."""

import itertools
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mpi_es.extras import EXTRA_OF
from mpi_es.run_file.versions import LIBRARIES, libraries
from mpi_es.text import counted

AS_IN_TRAINING = "fix it, or give --env, --policy, their options and --output as in training"
_SLURM = ("sbatch", "srun", "squeue", "scontrol")


@dataclass(frozen=True)
class Finding:
    """The result of a check."""

    name: str
    status: Literal["ok", "warn", "fail"]
    seen: str
    remedy: str = ""  # what the user can do; empty if ok


def allocation(environ: Mapping[str, str], world_size: int, hosts: Iterable[str]) -> Finding:
    """Compare the world communicator with the Slurm allocation."""
    if "SLURM_JOB_ID" not in environ:
        return Finding("allocation", "ok", "not in a Slurm job")
    used, nodes = len(set(hosts)), int(environ.get("SLURM_JOB_NUM_NODES", "1"))
    # Under an mpiexec that starts its helpers with srun, the number of tasks is that of the helpers.
    tasks = 0 if "SLURM_EXTERNAL_LAUNCHER" in environ else int(environ.get("SLURM_NTASKS", "0"))
    seen = (
        f"{counted(world_size, 'rank')} on {counted(used, 'node')}; job {environ['SLURM_JOB_ID']} has {nodes}"
    )
    seen += f", with {counted(tasks, 'task')}" if tasks else ""
    if used < nodes or world_size < tasks:
        return Finding(
            "allocation", "warn", seen, "to use the whole allocation: mpiexec, or srun --mpi=pmi2, without -n"
        )
    return Finding("allocation", "ok", seen)


def slurm_commands(environ: Mapping[str, str], which: Callable[[str], str | None] = shutil.which) -> Finding:
    """Look for the commands that the job scripts call."""
    missing = [command for command in _SLURM if not which(command)]
    if not missing:
        return Finding("Slurm", "ok", f"{', '.join(_SLURM)} found")
    if len(missing) == len(_SLURM) and "SLURM_JOB_ID" not in environ:
        return Finding("Slurm", "ok", "none on this machine")
    remedy = "load the cluster's Slurm module: a job could not requeue itself"
    return Finding("Slurm", "warn", f"{', '.join(missing)} not found", remedy)


def ranks_per_host(places: Sequence[tuple[str, frozenset[int]]], quota: float, machine: int) -> Finding:
    """Compare the ranks with the cores that they may use.

    Args:
        places: the host of each rank and the cores that it may run on.
        quota: CPU time that the control group grants on each host, in cores.
        machine: cores of a host.
    """
    ranks = Counter(host for host, _ in places)
    union = {host: frozenset().union(*(of for where, of in places if where == host)) for host in ranks}
    cores = {host: min(len(union[host]), quota) for host in ranks}
    tightest = max(ranks, key=lambda host: ranks[host] / cores[host])
    shares = (
        f"{counted(ranks[host], 'rank')} on {counted(cores[host], 'core')} of {host}"
        for host in sorted(ranks)
    )
    seen = ", ".join(itertools.islice(shares, 4))
    seen += f" and {counted(len(ranks) - 4, 'host')} more" if len(ranks) > 4 else ""
    if ranks[tightest] <= cores[tightest]:
        return Finding("cores", "ok", seen)
    remedy = (
        f"start at most {counted(max(int(cores[tightest]), 1), 'rank')} per node, unless episodes mostly wait"
    )
    if len(union[tightest]) < min(machine, ranks[tightest]):
        remedy = "the ranks are bound to few cores: mpiexec --bind-to none, srun --cpus-per-task=1, "
        remedy += "or mpiexec without SRUN_CPUS_PER_TASK"
    return Finding("cores", "warn", seen, remedy)


def cpu_quota(group: Path, root: Path = Path("/sys/fs/cgroup")) -> float:
    """Return the CPU time that a control group and its parents grant, in cores; inf without a limit."""
    quota = float("inf")
    for directory in (group, *group.parents):
        limit = directory / "cpu.max"
        if limit.is_file():
            share, period = limit.read_text().split()
            quota = min(quota, float("inf") if share == "max" else float(share) / float(period))
        if directory == root:
            break
    return quota


def own_group(table: str, root: Path = Path("/sys/fs/cgroup")) -> Path:
    """Return the control group (v2) that /proc/self/cgroup names."""
    found = re.search(r"^0::/(.*)$", table, re.MULTILINE)
    return root / found[1] if found else root


def versions() -> Finding:
    """Report the versions of the libraries that compute a run."""
    found = libraries()
    missing = [name for name in LIBRARIES if name not in found]
    if required := [name for name in missing if name not in EXTRA_OF]:
        return Finding("libraries", "fail", f"without {', '.join(required)}", "pip install them")
    without = [f"without {name} (in mpi_es[{EXTRA_OF[name]}])" for name in missing]
    return Finding("libraries", "ok", ", ".join([*map(" ".join, found.items()), *without]))
