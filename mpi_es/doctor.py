"""Check launcher, MPI, Slurm, memory, files and an environment: python -m mpi_es.doctor [RUN_DIR]."""

import argparse
import os
import platform
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from mpi_es.diagnosis import job, memory_and_files
from mpi_es.diagnosis.job import AS_IN_TRAINING, Finding
from mpi_es.errors import UserError
from mpi_es.extras import needed_for
from mpi_es.parallel import start_mpi
from mpi_es.parallel.collectives import Comm, SerialComm, bcast_object, gather_objects, of_this_node
from mpi_es.telemetry.terminal import tolerate
from mpi_es.text import counted

_SEVERITY = ("ok", "warn", "fail")
_PACKAGE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Check on all ranks, print on rank 0, and return 1 if anything failed."""
    comm, node, mpi = _start()
    options, code = _parse(arguments) if comm.rank == 0 else (argparse.Namespace(), None)
    code = bcast_object(comm, code)
    if code is not None:
        return int(code)
    hosts = _examine_hosts(comm, node)
    if comm.rank > 0:
        return 0
    tolerate(sys.stdout)
    findings = [*mpi, *hosts, *_examine_once(options.run_dir), *_examine_environment(options)]
    show(findings)
    return int(any(finding.status == "fail" for finding in findings))


def _start() -> tuple[Comm, Comm | None, list[Finding]]:
    """Return the world communicator, that of this host, and the findings on MPI. Collective."""
    try:
        comm = start_mpi.connect(os.environ)
    except UserError as error:
        seen, remedy = f"{error}; ".removeprefix("MPI: ").split("; ")[:2]
        return SerialComm(), None, [Finding("MPI", "fail", seen, remedy)]
    if isinstance(comm, SerialComm):
        remedy = f"for several ranks: {start_mpi.MPI_REMEDY}"
        return comm, None, [Finding("MPI", "warn", "mpi4py finds no MPI library; one process", remedy)]
    from mpi4py import MPI

    node = of_this_node(comm)
    who = start_mpi.find_launch(os.environ).launcher
    library = start_mpi.library_name(MPI.Get_library_version())
    seen = f"{who}, one world of {counted(comm.size, 'rank')}, {library}"
    return comm, node, [Finding("MPI", "ok", seen)]


def _parse(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, int | None]:
    """Return the options, and an exit code where there is nothing to check: after --help or a mistake."""
    parser = argparse.ArgumentParser(
        "python -m mpi_es.doctor", description="Check launcher, MPI, Slurm, memory, files and an environment."
    )
    parser.add_argument(
        "run_dir", nargs="?", type=Path, default=Path("runs"), help="directory to try, by default runs"
    )
    parser.add_argument("--env", help="environment to check, named as in mpi_es.train")
    parser.add_argument(
        "--env-options", nargs="*", default=[], metavar="NAME=VALUE", help="arguments of the environment"
    )
    parser.add_argument("--policy", default="mlp", help="policy that plays the episodes, by default mlp")
    parser.add_argument(
        "--policy-options", nargs="*", default=[], metavar="NAME=VALUE", help="arguments of a policy of yours"
    )
    parser.add_argument("--output", default="auto", help="from network outputs to actions, by default auto")
    try:
        return parser.parse_args(arguments), None
    except SystemExit as end:
        return argparse.Namespace(), int(end.code or 0)


def _examine_hosts(comm: Comm, node: Comm | None) -> list[Finding]:
    """Return on rank 0 the findings on all hosts. Collective."""
    here = (_host(), frozenset(os.sched_getaffinity(0)))
    places = bcast_object(comm, gather_objects(comm, here))
    group = job.own_group(Path("/proc/self/cgroup").read_text())
    quota = job.cpu_quota(group)
    findings = []
    if node is None or node.rank == 0:  # the other ranks of the host find the same
        ranks = 1 if node is None else node.size
        findings = [
            memory_and_files.shared_memory(Path("/dev/shm"), ranks),
            memory_and_files.numba_cache(os.environ, _PACKAGE),
            job.versions(),
        ]
    hosts = [host for host, _ in places]
    return [
        job.allocation(os.environ, comm.size, hosts),
        job.ranks_per_host(places, quota, os.cpu_count() or 1),
        *_gather(comm, node, findings),
    ]


def _host() -> str:
    return os.environ.get("SLURMD_NODENAME", socket.gethostname())


def _gather(comm: Comm, node: Comm | None, findings: list[Finding]) -> list[Finding]:
    """Return on rank 0 the findings of all hosts, merged. Collective."""
    speaks = node is None or node.rank == 0
    reports = gather_objects(comm, (_host(), findings) if speaks else None)
    return merge([report for report in reports if report]) if reports else []


def merge(reports: Sequence[tuple[str, Sequence[Finding]]]) -> list[Finding]:
    """Return for each check the worst finding of the hosts, with their names unless all found the same."""
    merged = []
    for column in zip(*(findings for _, findings in reports), strict=True):
        worst = max(column, key=lambda finding: _SEVERITY.index(finding.status))
        where = [host for (host, _), one in zip(reports, column, strict=True) if one.status == worst.status]
        seen = worst.seen if len(where) == len(reports) else f"{', '.join(where)}: {worst.seen}"
        merged.append(Finding(worst.name, worst.status, seen, worst.remedy))
    return merged


def _examine_once(directory: Path) -> list[Finding]:
    """Return the findings on the run directory, which rank 0 alone writes, and on the system."""
    system = f"Python {platform.python_version()}, {platform.system()} {platform.release()}"
    return [
        memory_and_files.hdf5_write(directory),
        memory_and_files.file_lock(directory),
        memory_and_files.file_system(directory, Path("/proc/self/mounts").read_text()),
        job.slurm_commands(os.environ),
        Finding("system", "ok", system),
    ]


def _examine_environment(options: argparse.Namespace) -> list[Finding]:
    """Return the finding on the environment, if one is named."""
    if not options.env:
        return []
    names = ("env", "env_options", "policy", "policy_options", "output")
    named = {name: value for name, value in vars(options).items() if name in names and value}
    try:
        with needed_for(f"--env {options.env}"):
            from mpi_es.config.parts import suited
            from mpi_es.config.run import Config  # which the other checks do not need
            from mpi_es.diagnosis.environment import repeats

            return [repeats(suited(Config, named))]
    except UserError as error:
        return [Finding("environment", "fail", str(error), AS_IN_TRAINING)]


def show(findings: Sequence[Finding]) -> None:
    """Print a line for each finding, one for each remedy, and a summary."""
    for finding in findings:
        print(f"{finding.status:<5}{finding.name:<15}{finding.seen}")
        if finding.remedy:
            print(f"{'':<20}-> {finding.remedy}")
    failed, warned = (sum(finding.status == status for finding in findings) for status in ("fail", "warn"))
    print(f"{failed} failed, {warned} to look at, {len(findings) - failed - warned} ok", flush=True)


def launch() -> int:
    """Return main's exit code; after an unexpected exception abort all ranks,
    which would wait for this one.
    """
    try:
        return main()
    except Exception:
        mpi = sys.modules.get("mpi4py.MPI")
        start_mpi.abort(mpi.COMM_WORLD if mpi and mpi.Is_initialized() else None)
        return 1


if __name__ == "__main__":
    sys.exit(launch())
