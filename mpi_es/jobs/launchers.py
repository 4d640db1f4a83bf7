"""python -m mpi_es.jobs.launchers: commands that may start ranks here, most likely first."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

# srun's protocols for each library, most likely first.
_PROTOCOLS = {"Open MPI": ("pmix",), "": ("cray_shasta", "pmi2", "pmix")}


def main() -> int:
    """Print one command per line, quoted for a shell."""
    offered = offered_by_srun() if shutil.which("srun") else ""
    for command in candidates(loaded_library(), Path(sys.prefix, "bin", "mpiexec"), offered, os.environ):
        print(shlex.join(command))
    return 0


def candidates(
    library: str,
    own: Path,
    offered: str,
    environ: Mapping[str, str],
    which: Callable[[str], str | None] = shutil.which,
) -> list[list[str]]:
    """Return commands that start as many ranks as Slurm has granted tasks.

    Args:
        library: the text of MPI_Get_library_version.
        own: the mpiexec of this Python's environment, which belongs to its MPI, if there is one.
        offered: what `srun --mpi=list` prints.
    """
    count = ["-n", environ.get("SLURM_NTASKS", "2")]
    mpiexec = str(own) if own.exists() else which("mpiexec")
    plain = [[mpiexec, *count]] if mpiexec else []
    version = re.match(r"Open MPI v(\d+)", library)
    outlives = version is not None and int(version[1]) >= 5  # its ranks can survive another's death
    surviving = [[mpiexec, "--with-ft", "ulfm", *count]] if mpiexec and outlives else []
    srun = "SLURM_JOB_ID" in environ and which("srun") and not own.exists()
    return [*surviving, *(srun_commands(library, offered) if srun else []), *plain]


def srun_commands(library: str, offered: str) -> list[list[str]]:
    """Return srun with each protocol that Slurm offers and the library may know, then the site's default."""
    kinds = _PROTOCOLS["Open MPI" if "Open MPI" in library else ""]
    named = [["--mpi=" + kind] for kind in kinds if kind in offered.split()]
    # Without -K, srun waits for ever after one rank was killed.
    return [["srun", "-K", *protocol] for protocol in (*named, [])]


def offered_by_srun() -> str:
    """Return the text of `srun --mpi=list`: the protocols of this Slurm."""
    done = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr  # some versions list them on standard error


def loaded_library() -> str:
    """Return the version text of the MPI library that mpi4py loads; empty if none."""
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError):
        return ""
    return MPI.Get_library_version()


if __name__ == "__main__":
    sys.exit(main())
